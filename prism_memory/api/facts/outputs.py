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
    FactChange,
    FactItem,
    FactPage,
    Principal,
    Provenance,
    Sensitivity,
    Trust,
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


def decided_output(done: Decided) -> dict[str, Any]:
    """Return what a decision did."""
    return {"id": str(done.id), "replaced": done.replaced, "waiting": done.waiting}
