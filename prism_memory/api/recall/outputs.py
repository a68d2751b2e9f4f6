"""What ``/recall`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.memories.outputs import MemoryOutput, memory_output
from prism_memory.types import Hit, Recalled


class HitOutput(MemoryOutput):
    """A record as recalled, with why it is here."""

    score = serializers.FloatField(help_text="0..1; higher is better.")
    method = Choice("RecallMethod", ("hybrid", "vector", "text"))
    cosine = serializers.FloatField(
        allow_null=True, help_text="-1..1; null where the vectors did not find it."
    )
    bm25 = serializers.FloatField(
        allow_null=True, help_text="Null where the words did not find it."
    )
    ranks = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Its place in each leg that found it, from 1.",
    )


class RecalledOutput(serializers.Serializer[Any]):
    """The hits, best first."""

    hits = HitOutput(many=True)
    strategy = Choice(
        "RecallStrategy",
        ("exact", "index", "none"),
        help_text="How the vectors were searched.",
    )
    degraded = serializers.CharField(
        allow_blank=True, help_text="Why the answer is poorer than it could be."
    )


def recalled_output(recalled: Recalled) -> dict[str, Any]:
    """Return the hits, and how they were found."""
    return {
        "hits": [hit_output(hit) for hit in recalled.hits],
        "strategy": recalled.strategy,
        "degraded": recalled.degraded,
    }


def hit_output(hit: Hit) -> dict[str, Any]:
    """Return one hit."""
    return {
        **memory_output(hit),
        "score": hit.score,
        "method": hit.method,
        "cosine": hit.cosine,
        "bm25": hit.bm25,
        "ranks": dict(hit.ranks),
    }
