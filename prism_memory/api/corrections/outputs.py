"""What a correction answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.types import Corrected


class CorrectedOutput(serializers.Serializer[Any]):
    """What a correction did."""

    id = serializers.UUIDField()
    version = serializers.IntegerField(help_text="Of the memory, as it stands now.")
    changed = serializers.BooleanField(
        help_text="False where it said the same already: then nothing was done."
    )
    blocked = serializers.IntegerField(
        help_text="How many memories are derived from it, and so blocked."
    )
    pending = serializers.BooleanField(
        help_text="It waits for its vector; until then it is found by words."
    )


def corrected_output(done: Corrected) -> dict[str, Any]:
    """Return what a correction did."""
    return {
        "id": str(done.id),
        "version": done.version,
        "changed": done.changed,
        "blocked": done.blocked,
        "pending": done.pending,
    }
