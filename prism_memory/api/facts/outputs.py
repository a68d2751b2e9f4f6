"""What ``/facts`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.memories.outputs import ScopeOutput, scope_output
from prism_memory.api.rendering import moment
from prism_memory.facts import Decided
from prism_memory.types import (
    Acceptance,
    Closing,
    ConflictStage,
    ConflictZone,
    DecidedFact,
    FactChange,
    FactItem,
    FactPage,
    Principal,
    Provenance,
    Sensitivity,
    Trust,
    Verdict,
)

IDS = ("supersedes", "superseded_by", "pending_supersedes")
TIMES = ("valid_from", "valid_to", "recorded_from", "recorded_to")
WORDS = (
    *("acceptance", "gate", "provenance", "principal", "sensitivity", "trust"),
    *("closing", "cause"),
)
PLAIN = (
    *("key", "subject", "predicate", "value", "text", "confidence", "importance"),
    *("writer", "closing_reason", "archived", "withheld", "actor", "reason"),
    "gate_reason",
)


class StandingOutput(serializers.Serializer[Any]):
    """Where a fact stands."""

    id = serializers.UUIDField()
    key = serializers.CharField()
    acceptance = Choice("FactAcceptance", Acceptance)
    gate = Choice("MemoryGate", ("open", "quarantined"))
    valid_from = serializers.DateTimeField()
    valid_to = serializers.DateTimeField(allow_null=True)
    supersedes = serializers.UUIDField(allow_null=True)
    pending_supersedes = serializers.UUIDField(
        allow_null=True, help_text="It waits to replace this one, which is in force."
    )


class FactOutput(StandingOutput):
    """One version of a fact, and what it says."""

    scope = ScopeOutput()
    subject = serializers.CharField(allow_blank=True)
    predicate = serializers.CharField(allow_blank=True)
    value = serializers.CharField(allow_blank=True)
    text = serializers.CharField(
        allow_blank=True, help_text="Verbatim; empty where it is withheld."
    )
    recorded_from = serializers.DateTimeField(help_text="Since when this was held.")
    recorded_to = serializers.DateTimeField(allow_null=True)
    evidence = serializers.ListField(child=serializers.UUIDField())
    confidence = serializers.FloatField(allow_null=True)
    importance = serializers.FloatField(allow_null=True)
    tags = serializers.ListField(child=serializers.CharField())
    provenance = Choice("FactProvenance", Provenance)
    principal = Choice("FactPrincipal", Principal)
    sensitivity = Choice("FactSensitivity", Sensitivity)
    trust = Choice("MemoryTrust", Trust, help_text="Of who asserted it.")
    writer = serializers.CharField(allow_blank=True)
    superseded_by = serializers.UUIDField(allow_null=True)
    closing = Choice("FactClosing", Closing, help_text="Why it is open no more.")
    closing_reason = serializers.CharField(allow_blank=True)
    archived = serializers.BooleanField()
    withheld = Choice(
        "FactWithheld", ("", "forgotten", "quarantined"), help_text="Why no words."
    )
    cause = Choice("FactChange", FactChange, help_text="What began this version.")
    actor = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    gate_reason = serializers.CharField(allow_blank=True)


class FactPageOutput(serializers.Serializer[Any]):
    """One page of facts, or of their versions."""

    items = FactOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


class RememberedFactOutput(serializers.Serializer[Any]):
    """What became of a claim, and why."""

    fact = StandingOutput(help_text="What stands: of a duplicate the one there was.")
    verdict = Choice("FactVerdict", Verdict)
    stage = Choice("ConflictStage", ConflictStage)
    zone = Choice("ConflictZone", ConflictZone)
    similarity = serializers.FloatField(
        allow_null=True, help_text="Raw cosine of the nearest, -1 to 1."
    )
    reason = serializers.CharField(allow_blank=True)
    quarantine_reason = serializers.CharField(allow_blank=True)
    conflict = serializers.UUIDField(
        allow_null=True, help_text="To be settled, where the verdict is pending."
    )
    target = serializers.UUIDField(
        allow_null=True, help_text="The one it repeats, replaces or is to replace."
    )


class DecidedOutput(serializers.Serializer[Any]):
    """What a decision about a fact did."""

    id = serializers.UUIDField()
    replaced = serializers.BooleanField(
        help_text="It took the place of the fact that it waited for."
    )
    waiting = serializers.BooleanField(
        help_text="It still waits for one: it may not replace it."
    )


def standing_output(found: FactItem) -> dict[str, Any]:
    """Return where a fact stands; of its words nothing."""
    shown = fact_output(found)
    return {str(name): shown[str(name)] for name in StandingOutput().fields}


def fact_output(found: FactItem) -> dict[str, Any]:
    """Return a version of a fact."""
    ids = {name: getattr(found, name) for name in IDS}
    return {
        "id": str(found.id),
        "scope": scope_output(found.scope),
        "evidence": [str(record_id) for record_id in found.evidence],
        "tags": list(found.tags),
        **{name: None if known is None else str(known) for name, known in ids.items()},
        **{name: moment(getattr(found, name)) for name in TIMES},
        **{name: str(getattr(found, name)) for name in WORDS},
        **{name: getattr(found, name) for name in PLAIN},
    }


def fact_page_output(page: FactPage) -> dict[str, Any]:
    """Return a page."""
    return {
        "items": [fact_output(found) for found in page.items],
        "next_cursor": page.next_cursor,
    }


def remembered_fact_output(done: DecidedFact) -> dict[str, Any]:
    """Return what became of a claim."""
    waits = done.verdict is Verdict.PENDING
    return {
        "fact": standing_output(done.fact),
        "verdict": done.verdict.value,
        "stage": done.stage.value,
        "zone": done.zone.value,
        "similarity": done.similarity,
        "reason": done.reason,
        "quarantine_reason": done.quarantine_reason,
        "conflict": str(done.decision_id) if waits else None,
        "target": None if done.target is None else str(done.target),
    }


def decided_output(done: Decided) -> dict[str, Any]:
    """Return what a decision did."""
    return {"id": str(done.id), "replaced": done.replaced, "waiting": done.waiting}
