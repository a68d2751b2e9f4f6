"""What ``/holds`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.types import Held, HoldLevel, HoldPage


class HoldOutput(serializers.Serializer[Any]):
    """A hold that stands."""

    id = serializers.UUIDField()
    level = Choice("HoldLevel", HoldLevel)
    target = serializers.CharField(help_text="record:, source: or scope: and its id.")
    matter = serializers.CharField(allow_blank=True)
    placed_at = serializers.DateTimeField()


class HoldPageOutput(serializers.Serializer[Any]):
    """One page of the holds here, above, and on what is here."""

    items = HoldOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def hold_output(held: Held) -> dict[str, Any]:
    """Return one hold."""
    return {
        "id": str(held.id),
        "level": held.level.value,
        "target": held.target_ref,
        "matter": held.matter,
        "placed_at": moment(held.placed_at),
    }


def hold_page_output(page: HoldPage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [hold_output(held) for held in page.items],
        "next_cursor": page.next_cursor,
    }
