"""What ``/pending`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.rendering import moment
from prism_memory.indexing import Pending


class PendingOutput(serializers.Serializer[Any]):
    """What in sight waits for its vector."""

    pending = serializers.IntegerField(help_text="Texts in the queue.")
    failed = serializers.IntegerField(help_text="Texts given up.")
    oldest_at = serializers.DateTimeField(
        allow_null=True, help_text="When the oldest of the pending was written."
    )


def pending_output(pending: Pending) -> dict[str, Any]:
    """Return what waits."""
    return {
        "pending": pending.pending,
        "failed": pending.failed,
        "oldest_at": moment(pending.oldest_at),
    }
