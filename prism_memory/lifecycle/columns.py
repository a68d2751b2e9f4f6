"""Rows as columns: a whole batch of them, and what the gate says of one."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from prism_memory.gate import CLASSIFIER, INJECTION, Verdict
from prism_memory.lifecycle.entries import Row
from prism_memory.models import Record
from prism_memory.models.choices import GateState

OF_WORDS: Final = frozenset({INJECTION, CLASSIFIER})
"""Reasons of the gate that are about the words, and go with them."""


def gate_of(verdict: Verdict) -> str:
    """Return the state of the gate that a verdict asks for."""
    return (GateState.QUARANTINED if verdict.flagged else GateState.OPEN).value


def judged(record: Record, verdict: Verdict) -> dict[str, Any]:
    """Return the columns of the gate of a record that gets other words.

    What is closed by an operator, or for where it comes from, stays closed.
    """
    columns: dict[str, Any] = {"gate_markers": verdict.as_json()}
    if record.gate == GateState.OPEN or record.gate_reason in OF_WORDS:
        columns |= {"gate": gate_of(verdict), "gate_reason": verdict.reason}
    return columns


def columns(*, rows: Sequence[Row], sources: Mapping[str, uuid.UUID]) -> dict[str, Any]:
    """Return a batch as the upsert takes it: one array for each column."""
    entries = [row.entry for row in rows]
    consents = [entry.consent for entry in entries]
    places = [entry.source for entry in entries]
    return {
        "ids": [row.id for row in rows],
        "numbered": [row.id for row in rows if row.entry.sequence is not None],
        "kinds": [entry.kind.value for entry in entries],
        "tiers": [entry.tier.value for entry in entries],
        "namespaces": [entry.namespace for entry in entries],
        "partitions": [entry.partition for entry in entries],
        "keys": [row.key for row in rows],
        "texts": [entry.text for entry in entries],
        "lexical_texts": [row.lexical_text for row in rows],
        "embed_texts": [row.embed_text for row in rows],
        "languages": [row.language for row in rows],
        "sha256s": [row.sha256 for row in rows],
        "sequences": [entry.sequence for entry in entries],
        "importances": [entry.importance for entry in entries],
        "metadatas": [row.metadata_json for row in rows],
        "trusts": [row.origin.trust.value for row in rows],
        "writers": [row.origin.writer for row in rows],
        "consent_sources": [c.source.value if c else None for c in consents],
        "consent_scopes": [c.scope.value if c else None for c in consents],
        "visibles": [c.visible if c else None for c in consents],
        "granted_ats": [c.granted_at if c else None for c in consents],
        "default_sources": [row.default_consent for row in rows],
        "gates": [gate_of(row.verdict) for row in rows],
        "gate_reasons": [row.verdict.reason for row in rows],
        "gate_markers": [json.dumps(row.verdict.as_json()) for row in rows],
        "source_ids": [sources[place.key] if place else None for place in places],
        "ordinals": [place.ordinal if place else None for place in places],
        "happened_ats": [entry.happened_at for entry in entries],
        "expires_ats": [entry.expires_at for entry in entries],
        "valid_froms": [entry.valid_from for entry in entries],
        "valid_tos": [entry.valid_to for entry in entries],
    }
