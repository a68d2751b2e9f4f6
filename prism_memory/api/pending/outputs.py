"""What ``/pending`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.rendering import moment
from prism_memory.indexing import Pending
from prism_memory.types import FailedPage


class PendingOutput(serializers.Serializer[Any]):
    """What in sight waits for its vector."""

    pending = serializers.IntegerField(help_text="Texts in the queue.")
    failed = serializers.IntegerField(help_text="Texts given up.")
    oldest_at = serializers.DateTimeField(
        allow_null=True, help_text="When the oldest of the pending was written."
    )


class FailedTextOutput(serializers.Serializer[Any]):
    """A text that was given up."""

    memory = serializers.UUIDField(help_text="The id of its record.")
    attempts = serializers.IntegerField()
    failed_at = serializers.DateTimeField()
    error = serializers.CharField(allow_blank=True)


class FailedPageOutput(serializers.Serializer[Any]):
    """Texts that were given up, the latest first."""

    items = FailedTextOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class RetriedOutput(serializers.Serializer[Any]):
    """How many texts are tried again."""

    retried = serializers.IntegerField()


def failed_output(page: FailedPage) -> dict[str, Any]:
    """Return a page of texts that were given up."""
    return {
        "items": [
            {
                "memory": str(one.record_id),
                "attempts": one.attempts,
                "failed_at": moment(one.failed_at),
                "error": one.error,
            }
            for one in page.items
        ],
        "next_cursor": page.next_cursor,
    }


def pending_output(pending: Pending) -> dict[str, Any]:
    """Return what waits."""
    return {
        "pending": pending.pending,
        "failed": pending.failed,
        "oldest_at": moment(pending.oldest_at),
    }
