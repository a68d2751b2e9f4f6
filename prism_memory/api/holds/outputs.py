"""What ``/holds`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.types import Held, HoldLevel, HoldPage, HoldWhere


class HoldScopeOutput(serializers.Serializer[Any]):
    """The names of a scope within the tenant; empty where it has none."""

    owner = serializers.CharField(allow_blank=True)
    agent = serializers.CharField(allow_blank=True)
    thread = serializers.CharField(allow_blank=True)


class HoldOutput(serializers.Serializer[Any]):
    """A hold that stands."""

    id = serializers.UUIDField()
    level = Choice("HoldLevel", HoldLevel)
    target = serializers.CharField(help_text="record:, source: or scope: and its id.")
    matter = serializers.CharField(allow_blank=True)
    scope = HoldScopeOutput(
        allow_null=True,
        help_text="That it is on, or that its target is in; null where that is gone.",
    )
    where = Choice("HoldWhere", HoldWhere)
    placed_at = serializers.DateTimeField()


class HoldPageOutput(serializers.Serializer[Any]):
    """One page of the holds here, above and below, and on what is there."""

    items = HoldOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def hold_output(held: Held) -> dict[str, Any]:
    """Return one hold."""
    names = ("owner", "agent", "thread")
    scope = held.scope and {name: getattr(held.scope, name) for name in names}
    return {
        "id": str(held.id),
        "level": held.level.value,
        "target": held.target_ref,
        "matter": held.matter,
        "scope": scope,
        "where": held.where.value,
        "placed_at": moment(held.placed_at),
    }


def hold_page_output(page: HoldPage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [hold_output(held) for held in page.items],
        "next_cursor": page.next_cursor,
    }
