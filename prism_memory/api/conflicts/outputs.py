"""What ``/conflicts`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.facts.outputs import FactOutput, fact_output
from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.types import (
    ConflictItem,
    ConflictPage,
    ConflictStage,
    ConflictZone,
    Settled,
    Verdict,
)


class ConflictOutput(serializers.Serializer[Any]):
    """A claim that waits, beside what it may repeat or replace."""

    id = serializers.UUIDField()
    fact = FactOutput(help_text="The new claim.")
    others = FactOutput(many=True, help_text="Those in sight, the nearest first.")
    stage = Choice("ConflictStage", ConflictStage)
    zone = Choice("ConflictZone", ConflictZone)
    similarity = serializers.FloatField(
        allow_null=True, help_text="Raw cosine of the nearest, -1 to 1."
    )
    reason = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()
    attempts = serializers.IntegerField(help_text="How often a judge was asked.")


class ConflictPageOutput(serializers.Serializer[Any]):
    """One page of the conflicts of exactly this scope, the oldest first."""

    items = ConflictOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class SettledOutput(serializers.Serializer[Any]):
    """What came of a conflict."""

    verdict = Choice("FactVerdict", Verdict)
    fact = serializers.UUIDField(help_text="The new claim.")
    target = serializers.UUIDField(
        allow_null=True, help_text="The fact that it repeats or replaces."
    )
    linked = serializers.BooleanField(
        help_text="It is to replace that one, and waits until it may."
    )


def conflict_page_output(page: ConflictPage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [_output(found) for found in page.items],
        "next_cursor": page.next_cursor,
    }


def settled_output(done: Settled) -> dict[str, Any]:
    """Return what came of a conflict."""
    return {
        "verdict": done.verdict.value,
        "fact": str(done.fact),
        "target": None if done.target is None else str(done.target),
        "linked": done.linked,
    }


def _output(found: ConflictItem) -> dict[str, Any]:
    return {
        "id": str(found.id),
        "fact": fact_output(found.fact),
        "others": [fact_output(other) for other in found.others],
        "stage": found.stage.value,
        "zone": found.zone.value,
        "similarity": found.similarity,
        "reason": found.reason,
        "at": moment(found.at),
        "attempts": found.attempts,
    }
