"""What ``/tombstones`` answers. Refs and times; no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.types import Stone, StonePage, TombstoneReason


class TombstoneOutput(serializers.Serializer[Any]):
    """Why a ref may not be used."""

    id = serializers.UUIDField()
    target = serializers.CharField(help_text="The ref that is blocked.")
    root = serializers.CharField(help_text="Because of which ref; maybe itself.")  # type: ignore[assignment]
    reason = Choice("TombstoneReason", TombstoneReason)
    hold = serializers.BooleanField(help_text="It keeps the body from deletion too.")
    actor = serializers.CharField()
    at = serializers.DateTimeField()


class TombstonePageOutput(serializers.Serializer[Any]):
    """One page of what is blocked in exactly this scope."""

    items = TombstoneOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def tombstone_page_output(page: StonePage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [_output(stone) for stone in page.items],
        "next_cursor": page.next_cursor,
    }


def _output(stone: Stone) -> dict[str, Any]:
    return {
        "id": str(stone.id),
        "target": stone.target_ref,
        "root": stone.root_ref,
        "reason": stone.reason.value,
        "hold": stone.hold,
        "actor": stone.actor,
        "at": moment(stone.at),
    }
