"""Plain makers of test values and rows: every field has a default, any can be given."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any

from prism_memory.memory import Memory
from prism_memory.models import (
    Evidence,
    Fact,
    FactVersion,
    LineageEdge,
    Record,
    Tombstone,
)
from prism_memory.types import (
    Entry,
    Origin,
    ReadMode,
    Scope,
    TombstoneReason,
    Trace,
    Trust,
    uuid7,
)

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
ADA = Origin(Trust.USER, "ada")


def make_scope(**given: str) -> Scope:
    """Ada's first chat with the support agent at Acme, unless said otherwise."""
    levels = {"owner": "ada", "agent": "support", "thread": "chat-1"}
    return Scope(**{"tenant": "acme", **levels, **given})


def make_memory(scope: Scope | None = None, **given: Any) -> Memory:
    return Memory(scope or make_scope(), **{"origin": ADA, **given})


def remember(
    *texts: str, scope: Scope | None = None, wait: bool = False, **fields: Any
) -> list[uuid.UUID]:
    """Remember texts at a scope, each an entry with these fields; return their ids.

    Args:
        wait: Make their vectors too.
    """
    entries = [Entry(text, **fields) for text in texts]
    return [*make_memory(scope).remember(entries, wait=wait).accepted]


def remember_one(text: str = "Ada drinks tea, not coffee.", **given: Any) -> uuid.UUID:
    """As ``remember``, for one text."""
    (record_id,) = remember(text, **given)
    return record_id


def make_record(
    text: str = "Ada drinks tea, not coffee.",
    *,
    scope: Scope | None = None,
    wait: bool = False,
    fields: dict[str, Any] | None = None,
    **columns: Any,
) -> Record:
    """Remember a text, then set columns of its row that no verb sets yet.

    Args:
        fields: Of the entry.
        columns: Of the row, such as ``revoked_at`` or ``gate``.
    """
    scope = scope or make_scope()
    record_id = remember_one(text, scope=scope, wait=wait, **(fields or {}))
    rows = Record.objects.filter(tenant=scope.tenant, id=record_id)
    if columns:
        rows.update(**columns)
    return rows.select_related("scope", "source").get()


def make_tombstone(record: Record, **given: Any) -> Tombstone:
    """Mark a record, or ``target_ref``, as forgotten or for another reason."""
    ref = given.setdefault("target_ref", f"record:{record.id}")
    defaults = {
        "tenant": record.tenant,
        "root_ref": ref,
        "reason": TombstoneReason.FORGOTTEN.value,
        "actor": "system",
        "at": NOON,
    }
    return Tombstone.objects.create(**{**defaults, **given})


def make_edge(record: Record, source: Record | str, position: int = 0) -> LineageEdge:
    """Derive a record from another, or from a ref."""
    ref = source if isinstance(source, str) else f"record:{source.id}"
    return LineageEdge.objects.create(
        tenant=record.tenant, record=record, source_ref=ref, position=position
    )


def make_fact(
    statement: str = "Ada drinks tea.",
    *,
    evidence: Sequence[Record] = (),
    scope: Scope | None = None,
    acceptance: str = "accepted",
    **columns: Any,
) -> Fact:
    """Write the rows of a fact by plain inserts, with its statement's record.

    Args:
        evidence: What it cites, in order; the words of a new record when none is given.
        columns: Of the fact's row.
    """
    scope = scope or make_scope()
    record = make_record(statement, scope=scope, kind="fact", fields={"kind": "note"})
    Record.objects.filter(tenant=scope.tenant, id=record.id).update(key=str(record.id))
    given = {"tenant": scope.tenant, "scope": record.scope, "key": str(record.id)}
    fact = Fact.objects.create(id=record.id, record=record, **{**given, **columns})
    for position, cited in enumerate(
        evidence or [make_record(f"It was said: {statement}", scope=scope)]
    ):
        Evidence.objects.create(tenant=scope.tenant, fact=fact, record=cited)
        make_edge(record, cited, position)
    make_version(fact, acceptance=acceptance)
    return fact


def make_version(fact: Fact, **given: Any) -> FactVersion:
    """Write a version of a fact, in force and open unless said otherwise."""
    fields = {
        "acceptance": "accepted",
        "valid_from": NOON,
        "recorded_from": NOON,
        "cause": "asserted",
        "actor": "ada",
    }
    rows = FactVersion.objects
    return rows.create(tenant=fact.tenant, fact=fact, **{**fields, **given})


def make_trace(*ids: uuid.UUID, **given: Any) -> Trace:
    """A recall at Ada's first chat that found these records."""
    hits = tuple(
        {"id": str(i), "score": 0.9, "ranks": {"text": 1}, "signals": {"bm25": 1.5}}
        for i in ids
    )
    defaults: dict[str, Any] = {
        "id": uuid7(),
        "scope": make_scope(),
        "query_sha256": bytes(32),
        "actor": "system",
        "mode": ReadMode.CHAIN,
        "strategy": "exact",
        "degraded": "",
        "at": NOON,
        "options": {"legs": "hybrid", "top_k": 5},
        "hits": hits,
        "timings_ms": {"candidates": 1.25},
    }
    return Trace(**{**defaults, **given})
