"""What ``/recall`` and ``/recall/deep`` answer."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.memories.outputs import (
    MemoryOutput,
    ScopeOutput,
    memory_output,
    scope_output,
)
from prism_memory.api.rendering import moment
from prism_memory.types import (
    Acceptance,
    DeepRecalled,
    Explanation,
    Hit,
    Item,
    Recalled,
    TombstoneReason,
)

METHODS: Final = ("hybrid", "vector", "text", "recency", "entity", "context")
STRATEGIES: Final = ("exact", "index", "external", "text", "none")


class SeenOutput(MemoryOutput):
    """A record as a question sees it, which may ask for what lists do not show."""

    gate = Choice("MemoryGate", ("open", "quarantined"))
    gate_reason = serializers.CharField(
        allow_blank=True, help_text="Why it is quarantined; empty when it is open."
    )
    changed = serializers.BooleanField(
        help_text="Its words, gate or consent changed after known_at."
    )


class HitOutput(SeenOutput):
    """A record as recalled, with why it is here."""

    score = serializers.FloatField(help_text="0..1; higher is better.")
    method = Choice(
        "RecallMethod",
        METHODS,
        help_text="The leg that found it; hybrid: several; context: it stands beside.",
    )
    cosine = serializers.FloatField(
        allow_null=True, help_text="-1..1; null where it has no vector, or none asked."
    )
    bm25 = serializers.FloatField(
        allow_null=True, help_text="Null where it has no word of the question."
    )
    ranks = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Its place in each leg that found it, from 1.",
    )
    signals = serializers.DictField(
        child=serializers.FloatField(), help_text="What the score is made of."
    )
    acceptance = Choice(
        "HitAcceptance",
        ("", *Acceptance),
        help_text="Of a fact, whether it may be relied on; empty for what is none.",
    )


class StoneOutput(serializers.Serializer[Any]):
    """A tombstone that is in force, and does not hide the record here."""

    reason = Choice("TombstoneReason", TombstoneReason)
    at = serializers.DateTimeField()


class ExplanationOutput(serializers.Serializer[Any]):
    """Why a hit is where it is, and where its words come from."""

    id = serializers.UUIDField()
    rank = serializers.IntegerField(help_text="Among the hits, from 1.")
    score = serializers.FloatField()
    method = Choice("RecallMethod", METHODS)
    strategy = Choice("RecallStrategy", STRATEGIES)
    ranks = serializers.DictField(child=serializers.IntegerField())
    signals = serializers.DictField(child=serializers.FloatField())
    weights = serializers.DictField(
        child=serializers.FloatField(), help_text="What each leg counted."
    )
    components = serializers.DictField(
        child=serializers.FloatField(), help_text="Parts of the score, 0..1 each."
    )
    source_refs = serializers.ListField(
        child=serializers.CharField(), help_text="What it is derived from."
    )
    lineage_reason = serializers.CharField(
        allow_blank=True, help_text="How it was derived, such as 'note by agent'."
    )
    tombstone = StoneOutput(allow_null=True)
    created_at = serializers.DateTimeField()
    scope = ScopeOutput()
    shared_from = serializers.CharField(
        allow_null=True, help_text="The thread that shares it; null: it is your own."
    )


class RecalledOutput(serializers.Serializer[Any]):
    """The hits, best first."""

    hits = HitOutput(many=True)
    strategy = Choice(
        "RecallStrategy", STRATEGIES, help_text="How the vectors were searched."
    )
    degraded = serializers.CharField(
        allow_blank=True, help_text="Why the answer is poorer than it could be."
    )
    bounded = serializers.BooleanField(
        help_text="Words that are in too many rows were only searched beside others,"
        " or an entity has more facts than are looked at."
    )
    truncated = serializers.BooleanField(
        help_text="More was found than max_bytes or max_tokens let through."
    )
    timings_ms = serializers.DictField(
        child=serializers.FloatField(), help_text="Milliseconds by step."
    )
    trace_id = serializers.UUIDField(
        allow_null=True, help_text="Of the trace that is kept of it; null: none is."
    )
    adjacent = SeenOutput(
        many=True, help_text="What stands beside the hits, by message_range."
    )
    explanations = ExplanationOutput(
        many=True, help_text="One for each hit, in their order, by explain."
    )


class DeepRecalledOutput(serializers.Serializer[Any]):
    """The hits of all passes, best first."""

    hits = HitOutput(many=True)
    iterations = serializers.IntegerField(help_text="Passes that searched.")
    gate_hard = serializers.BooleanField(help_text="It was hard, or taken for it.")
    sufficient = serializers.BooleanField(
        help_text="The last verdict; true where nobody gave one."
    )
    abstained = serializers.BooleanField(
        help_text="The hits were judged and do not answer the question."
    )
    graded = serializers.BooleanField(help_text="A grader gave a verdict.")
    queries = serializers.ListField(
        child=serializers.CharField(),
        help_text="What each pass searched for; the first is the question.",
    )
    degraded = serializers.CharField(
        allow_blank=True, help_text="Why the answer is poorer than it could be."
    )
    trace_id = serializers.UUIDField(
        allow_null=True, help_text="Of the trace that is kept of all; null: none is."
    )


def recalled_output(recalled: Recalled) -> dict[str, Any]:
    """Return the hits, and how they were found."""
    return {
        "hits": [hit_output(hit) for hit in recalled.hits],
        "strategy": recalled.strategy,
        "degraded": recalled.degraded,
        "bounded": recalled.bounded,
        "truncated": recalled.truncated,
        "timings_ms": {
            step: round(spent, 3) for step, spent in recalled.timings_ms.items()
        },
        "trace_id": recalled.trace_id and str(recalled.trace_id),
        "adjacent": [seen_output(item) for item in recalled.adjacent],
        "explanations": [explanation_output(one) for one in recalled.explanations],
    }


def deep_recalled_output(found: DeepRecalled) -> dict[str, Any]:
    """Return the hits, and how many passes it took."""
    return {
        "hits": [hit_output(hit) for hit in found.hits],
        "iterations": found.iterations,
        "gate_hard": found.gate_hard,
        "sufficient": found.sufficient,
        "abstained": found.abstained,
        "graded": found.graded,
        "queries": list(found.queries),
        "degraded": found.degraded,
        "trace_id": found.trace_id and str(found.trace_id),
    }


def hit_output(hit: Hit) -> dict[str, Any]:
    """Return one hit."""
    return {
        **seen_output(hit),
        "score": hit.score,
        "method": hit.method,
        "cosine": hit.cosine,
        "bm25": hit.bm25,
        "ranks": dict(hit.ranks),
        "signals": dict(hit.signals),
        "acceptance": hit.acceptance,
    }


def seen_output(item: Item) -> dict[str, Any]:
    """Return a record, and what is odd about it."""
    return {
        **memory_output(item),
        "gate": item.gate,
        "gate_reason": "" if item.gate == "open" else item.gate_reason,
        "changed": item.changed,
    }


def explanation_output(one: Explanation) -> dict[str, Any]:
    """Return why one hit is where it is."""
    reason, at = one.tombstone or (None, None)
    return {
        "id": str(one.id),
        "rank": one.rank,
        "score": one.score,
        "method": one.method,
        "strategy": one.strategy,
        "ranks": dict(one.ranks),
        "signals": dict(one.signals),
        "weights": dict(one.weights),
        "components": dict(one.components),
        "source_refs": list(one.source_refs),
        "lineage_reason": one.lineage_reason,
        "tombstone": reason and {"reason": reason.value, "at": moment(at)},
        "created_at": moment(one.created_at),
        "scope": scope_output(one.scope),
        "shared_from": one.shared_from,
    }
