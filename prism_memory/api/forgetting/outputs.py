"""What a forgetting answers. Ids and counts; no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.types import Forgotten


class ForgottenOutput(serializers.Serializer[Any]):
    """What a forgetting did."""

    deleted = serializers.IntegerField(
        help_text="Memories that are gone, with those derived from them."
    )
    kept = serializers.ListField(
        child=serializers.UUIDField(), help_text="Those that a hold keeps."
    )
    blocked = serializers.IntegerField(help_text="Refs that may no longer be used.")
    missing = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Ids that are not in this scope, or were forgotten before.",
    )
    lifted = serializers.IntegerField(
        help_text="On how many refs a hold of an earlier forgetting was lifted."
    )


def forgotten_output(done: Forgotten) -> dict[str, Any]:
    """Return what a forgetting did."""
    return {
        "deleted": done.deleted,
        "kept": [str(record_id) for record_id in done.kept],
        "blocked": done.blocked,
        "missing": [str(record_id) for record_id in done.missing],
        "lifted": done.lifted,
    }
