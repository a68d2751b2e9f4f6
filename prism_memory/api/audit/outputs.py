"""What ``/audit`` answers. Names, ids and counts; no text of any record."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.rendering import moment
from prism_memory.governance import Event, EventPage


class EventOutput(serializers.Serializer[Any]):
    """One governing act."""

    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(help_text="Who acted.")
    action = serializers.CharField(help_text="Noun and verb, such as memory.forget.")
    target = serializers.CharField(help_text="A ref, such as record: and its id.")
    reason = serializers.CharField(help_text="Why, as the actor said; may be empty.")
    detail = serializers.JSONField(help_text="Ids and counts, as an object.")
    seal = serializers.IntegerField(
        allow_null=True, help_text="Number of the seal over it; null while none is."
    )


class EventPageOutput(serializers.Serializer[Any]):
    """One page of the tenant's audit, newest first."""

    items = EventOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def event_page_output(page: EventPage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [_event(event) for event in page.items],
        "next_cursor": page.next_cursor,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "id": str(event.id),
        "at": moment(event.at),
        "actor": event.actor,
        "action": event.action,
        "target": event.target,
        "reason": event.reason,
        "detail": event.detail,
        "seal": event.seal,
    }
