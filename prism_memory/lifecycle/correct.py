"""Give a record other words: the old ones were wrong."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import transaction

from prism_memory import audit, signals
from prism_memory.conf import Limits
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.integrity import carried
from prism_memory.lifecycle.columns import judged
from prism_memory.lifecycle.entries import Row, reworded
from prism_memory.lifecycle.governed import find_governed, is_held, lock_governed
from prism_memory.lifecycle.poison import block_derived, unblock_derived
from prism_memory.lifecycle.queueing import enqueue, wake
from prism_memory.lifecycle.removal import announce_invalidation
from prism_memory.lifecycle.reviews import lapse_reviews, open_review
from prism_memory.lifecycle.tombstones import closure, hold_lineage, mark_derived
from prism_memory.models import Record
from prism_memory.models.choices import GateState
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Actor,
    Corrected,
    Entry,
    Kind,
    Origin,
    ReviewWhy,
    Scope,
    SourceRef,
    TombstoneReason,
    Trust,
    record_ref,
)


@for_tenant
def correct(  # noqa: PLR0913 - keywords
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    text: str,
    at: dt.datetime,
    limits: Limits,
    redaction: Redaction,
    embedder: str,
    reason: str = "",
) -> Corrected:
    """Replace the words of a record of exactly ``scope``; block what derives from it.

    Id, key, sequence, metadata, consent, importance, trust and lineage stay. Index
    texts that the writer gave belong to the old words and go. The same words again
    change nothing.

    Args:
        text: The new words; prepared as those of ``remember`` are.
        embedder: Alias whose live spaces get a pending vector.
        reason: For the audit; no text content.

    Raises:
        NotVisible: No such record in this scope.
        Invalid: The text is blank or cannot be stored.
        LimitExceeded: It is too long, or the lineage over its caps.
        Conflict: The record is revoked or held.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    prepare = partial(_reworded, text=text, limits=limits, redaction=redaction)
    # The host's redactor runs before anything is locked.
    seen = find_governed(using=using, scope=scope, record_id=record_id)
    row = prepare(seen)
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        record = lock_governed(using=using, scope=scope, record_id=record_id)
        if record.version != seen.version:  # somebody wrote meanwhile
            # The same words, so that the host's classifier need not be asked again.
            anew = prepare(record, classify=False)
            row = anew if anew.verdict.flagged else replace(anew, verdict=row.verdict)
        _refuse_conflict(using, record)
        if record.text == row.entry.text:
            return Corrected(record.id, record.version, changed=False)
        blocked = _block(using, scope, actor, record, at)
        _rewrite(using, record, row, at)
        _follow_gate(using, scope, actor, record, row, at)
        pending = _requeue(using, scope, record, row, embedder)
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="memory.correct",
            target=record_ref(record_id),
            at=at,
            reason=reason,
            detail={"version": record.version + 1, "blocked": blocked},
        )
        _announce(using, scope, record_id)
    return Corrected(record.id, record.version + 1, blocked=blocked, pending=pending)


def _reworded(
    record: Record,
    *,
    text: str,
    limits: Limits,
    redaction: Redaction,
    classify: bool = True,
) -> Row:
    source = record.source
    entry = Entry(
        text,
        key=record.key,
        kind=Kind(record.kind),
        metadata=record.metadata,
        language=record.language,
        happened_at=record.happened_at,
        source=SourceRef(source.key, record.ordinal or 0, source.uri)
        if source
        else None,
    )
    origin = Origin(Trust(record.trust), record.writer)
    return reworded(
        entry, origin=origin, limits=limits, redaction=redaction, classify=classify
    )


def _refuse_conflict(using: str, record: Record) -> None:
    if record.kind == Kind.FACT:
        message = "A fact is superseded or retracted, not corrected."
        raise Conflict(message, field="id")
    if record.revoked_at is not None or is_held(using=using, record=record):
        message = "A revoked or held record cannot be corrected."
        raise Conflict(message, field="id")


def _block(
    using: str, scope: Scope, actor: Actor, record: Record, at: dt.datetime
) -> int:
    """Block what derives from a record, and return how many that are."""
    root = record_ref(record.id)
    refs = closure(using=using, tenant=scope.tenant, roots=[root])
    mark_derived(
        using=using,
        tenant=scope.tenant,
        roots=[root],
        reason=TombstoneReason.CORRECTED,
        actor=actor,
        at=at,
        supersedes=root,
    )
    # Of all, also of those that an earlier correction blocked: the words changed again.
    announce_invalidation(
        using=using, tenant=scope.tenant, reason=TombstoneReason.CORRECTED, refs=refs
    )
    return len(refs) - 1


def _rewrite(using: str, record: Record, row: Row, at: dt.datetime) -> None:
    rows = Record.objects.using(using).filter(tenant=record.tenant, id=record.id)
    with carried(using=using, tenant=record.tenant, record_ids=[record.id]):
        rows.update(
            text=row.entry.text,
            lexical_text=row.lexical_text,
            embed_text=row.embed_text,
            sha256=row.sha256,
            changed_at=at,
            **judged(record, row.verdict),
            version=record.version + 1,
        )


def _follow_gate(
    using: str,
    scope: Scope,
    actor: Actor,
    record: Record,
    row: Row,
    at: dt.datetime,
) -> None:
    """Block what derives from words that the gate holds back, and lift it else."""
    given: dict[str, Any] = {"using": using, "tenant": scope.tenant, "at": at}
    why = ReviewWhy.QUARANTINED
    if record.gate != GateState.OPEN:
        lapse_reviews(**given, record_ids=[record.id], why=why, actor=actor)
    if judged(record, row.verdict).get("gate", record.gate) != GateState.OPEN:
        block_derived(**given, ids=[record.id], actor=actor)
        open_review(**given, scope_id=scope.id, record_id=record.id, why=why)
    elif record.gate != GateState.OPEN:
        unblock_derived(**given, ids=[record.id])


def _requeue(using: str, scope: Scope, record: Record, row: Row, embedder: str) -> bool:
    """Tell whether the record waits for a vector in the caller's spaces."""
    texts = {record.id: row.embed_sha256}
    waiting, queued = enqueue(using=using, scope=scope, texts=texts, embedder=embedder)
    given = {
        "tenant": scope.tenant,
        "record_id": record.id,
        "sha256": row.embed_sha256,
    }
    found = queries.fetch(using, named("correct")["requeue_elsewhere"], given)
    elsewhere = {each["alias"] for each in found} - {embedder}
    for alias in sorted({embedder} | elsewhere if queued else elsewhere):
        wake(using=using, scope=scope, embedder=alias)
    return bool(waiting)


def _announce(using: str, scope: Scope, record_id: uuid.UUID) -> None:
    send = partial(
        signals.corrected.send_robust, sender=Scope, scope=scope, id=record_id
    )
    transaction.on_commit(send, using=using, robust=True)
