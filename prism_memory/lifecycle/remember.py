"""Remember entries: all of them, or none."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction

from prism_memory import access, integrity, signals
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.lifecycle.columns import columns
from prism_memory.lifecycle.decisions import note_decisions
from prism_memory.lifecycle.entries import Identity, Row
from prism_memory.lifecycle.governed import any_held
from prism_memory.lifecycle.lineage import write_edges
from prism_memory.lifecycle.overwriting import (
    SourcesLeft,
    blocked,
    find,
    held,
    identity,
    refuse_conflict,
    refuse_edited,
    refuse_unseen,
)
from prism_memory.lifecycle.poison import block_derived, unblock_derived
from prism_memory.lifecycle.queueing import enqueue, wake
from prism_memory.lifecycle.reviews import lapse_reviews, open_reviews
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.sources import ensure_sources
from prism_memory.lifecycle.tombstones import hold_lineage, mark_born_hidden
from prism_memory.types import (
    Actor,
    Authorization,
    ReviewWhy,
    Scope,
    TombstoneReason,
)


@dataclass(frozen=True)
class Written:
    """What was written of a batch.

    Args:
        ids: The record of each identity.
        written: Those that are new or changed.
        blocked: Those that stood there before, and that something blocks.
        quarantined: Those that the gate holds back, new or not.
        poisons: Those that stood there before, and that block what derives from them
            since the gate held them back.
    """

    ids: dict[Identity, uuid.UUID]
    written: list[uuid.UUID]
    blocked: frozenset[uuid.UUID] = frozenset()
    quarantined: frozenset[uuid.UUID] = frozenset()
    poisons: frozenset[uuid.UUID] = frozenset()


@dataclass(frozen=True)
class Stored:
    """What a remember did.

    Args:
        ids: The record of each entry, in the caller's order.
        changed: Those that are new or changed.
        pending: Those that wait for their vector, also from before.
        quarantined: Those that the gate holds back, new or not.
    """

    ids: tuple[uuid.UUID, ...]
    changed: frozenset[uuid.UUID]
    pending: frozenset[uuid.UUID]
    quarantined: frozenset[uuid.UUID] = frozenset()


class GateMoved(Exception):
    """What was there got other words, and its gate opens or closes."""


def remember(  # noqa: PLR0913 - keywords, most of them optional
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    rows: Sequence[Row],
    embedder: str,
    at: dt.datetime,
    wakes: bool = True,
    overwrites: bool = True,
    authorization: Authorization | None = None,
) -> Stored:
    """Store prepared rows at exactly ``scope``, and queue them for embedding.

    Rows identical to what is stored change nothing. Four to eighteen queries, whatever
    the number of rows; once more where records leave their source.

    Args:
        embedder: Alias whose live spaces get a pending vector for each row.
        at: Time of writing.
        wakes: Tell the worker; False for a caller who embeds by itself.
        overwrites: False: what is there stays as it is, whatever it is.
        authorization: As whom the caller reads restricted documents.

    Raises:
        Conflict: A row would overwrite a revoked, held or blocked record, or one that
            was edited behind the app's back; change a consent; or bring back corrected
            words. Or it has the key of a record that draws upon a restricted document
            without a grant to the caller, or that would leave a restricted source.
        NotVisible: A lineage ref names a record that is not in sight.
        Unsupported: It would overwrite a record, or writes lineage, in a transaction
            that is not READ COMMITTED.
    """
    if not rows:
        return Stored((), frozenset(), frozenset())
    left: frozenset[uuid.UUID] = frozenset()
    alone = False
    while True:
        try:
            with transaction.atomic(using=using):
                if alone or any(row.entry.lineage for row in rows):
                    hold_lineage(using=using, tenant=scope.tenant, alone=alone)
                ensure_scope(using=using, scope=scope, at=at)
                done = _write(
                    using, scope, rows, at, left, authorization, overwrites=overwrites
                )
                kept = _kept(rows, done, overwrites=overwrites)
                _follow_gate(using, scope, rows, done, actor, at, alone=alone)
                pending = _complete(
                    using, scope, actor, kept, done, embedder, at, wakes=wakes
                )
        except SourcesLeft as found:
            # Sources are locked before records, by all who lock both.
            left |= found.sources
        except GateMoved:
            # So is the lineage, by all who block or unblock what is derived.
            alone = True
        else:
            ordered = tuple(done.ids[row.identity] for row in rows)
            return Stored(ordered, frozenset(done.written), pending, done.quarantined)


def _kept(rows: Sequence[Row], done: Written, *, overwrites: bool) -> Sequence[Row]:
    """Return the rows that more than a look is for."""
    if overwrites:
        return rows
    return [row for row in rows if done.ids[row.identity] == row.id]


def _complete(
    using: str,
    scope: Scope,
    actor: Actor,
    rows: Sequence[Row],
    done: Written,
    embedder: str,
    at: dt.datetime,
    *,
    wakes: bool,
) -> frozenset[uuid.UUID]:
    """Write what goes with the records; return those that wait for their vector."""
    _hide_born_hidden(using, scope, rows, done, actor, at)
    _write_lineage(using, scope, rows, done, at)
    _note_consents(using, scope, rows, done.ids, actor, at)
    _let_wait(using, scope, rows, done, actor, at)
    texts = {done.ids[row.identity]: row.embed_sha256 for row in rows}
    pending, queued = enqueue(using=using, scope=scope, texts=texts, embedder=embedder)
    _announce(using, scope, done.written)
    if wakes and queued:
        wake(using=using, scope=scope, embedder=embedder)
    return pending


def _write(
    using: str,
    scope: Scope,
    rows: Sequence[Row],
    at: dt.datetime,
    left: Collection[uuid.UUID],
    authorization: Authorization | None,
    *,
    overwrites: bool,
) -> Written:
    distinct = {row.identity: row for row in rows}
    sources = ensure_sources(
        using=using, scope=scope, rows=distinct.values(), left=left, at=at
    )
    given = {
        **columns(rows=list(distinct.values()), sources=sources),
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "at": at,
        "left": list(left),
        "overwrites": overwrites,
    }
    refuse_edited(using, scope, list(distinct.values()))
    statement = composed("remember", "upsert_records", held=access.held())
    upserted = queries.fetch(using, statement, given)
    refuse_unseen(upserted)
    written = [row["id"] for row in upserted]
    new = set(written)
    frozen = {r["id"] for r in upserted if r["reworded"] or r["rejudged"]}
    ids = {row.identity: row.id for row in distinct.values() if row.id in new}
    known = [row for row in distinct.values() if row.id not in new]
    found = find(using, scope, known, authorization)
    if overwrites:
        _require_locked(found, given, left)
        for one in found:
            refuse_conflict(
                distinct[identity(one)],
                one,
                changed=one["id"] in new,
                frozen=one["id"] in frozen,
            )
    ids |= {identity(one): one["id"] for one in found}
    integrity.sign(using=using, tenant=scope.tenant, record_ids=written)
    return Written(
        ids,
        written,
        frozenset(i["id"] for i in found if i["blocked"]),
        frozenset(i["id"] for i in [*upserted, *found] if i["quarantined"]),
        frozenset(i["id"] for i in found if i["poisons"]),
    )


def _require_locked(
    found: Sequence[Mapping[str, Any]],
    given: Mapping[str, Any],
    left: Collection[uuid.UUID],
) -> None:
    """Begin anew where a record stands in a source that it would leave unlocked."""
    locked = {None, *given["source_ids"], *left}
    if unlocked := {one["source_id"] for one in found} - locked:
        raise SourcesLeft(frozenset(unlocked))


def _hide_born_hidden(
    using: str,
    scope: Scope,
    rows: Iterable[Row],
    done: Written,
    actor: Actor,
    at: dt.datetime,
) -> None:
    """Block what will be derived from new records whose consent was refused."""
    hidden = [
        row.id
        for row in rows
        if row.entry.consent is not None
        and not row.entry.consent.visible
        and done.ids[row.identity] == row.id
    ]
    if hidden:
        mark_born_hidden(
            using=using, tenant=scope.tenant, record_ids=hidden, actor=actor, at=at
        )


def _write_lineage(
    using: str,
    scope: Scope,
    rows: Sequence[Row],
    done: Written,
    at: dt.datetime,
) -> None:
    sources = {
        done.ids[row.identity]: row.entry.lineage.source_ids
        for row in rows
        if row.entry.lineage is not None
    }
    if not sources:
        return
    known = sources.keys() - {row.id for row in rows}
    reworded = known.intersection(done.written)
    changed = known & write_edges(
        using=using, scope=scope, sources=sources, at=at, known=known, anew=reworded
    )
    if changed & done.blocked:
        raise blocked()
    if changed and any_held(using=using, tenant=scope.tenant, record_ids=changed):
        raise held()


def _note_consents(
    using: str,
    scope: Scope,
    rows: Iterable[Row],
    ids: dict[Identity, uuid.UUID],
    actor: Actor,
    at: dt.datetime,
) -> None:
    """Note the consents that new records came with, not those that are assumed."""
    given = [
        row.id
        for row in rows
        if row.entry.consent is not None and ids[row.identity] == row.id
    ]
    if given:
        note_decisions(
            using=using, tenant=scope.tenant, actor=actor, record_ids=given, at=at
        )


def _follow_gate(
    using: str,
    scope: Scope,
    rows: Iterable[Row],
    done: Written,
    actor: Actor,
    at: dt.datetime,
    *,
    alone: bool,
) -> None:
    """Block what derives from what is behind the gate, and lift it where it opens."""
    given: dict[str, Any] = {"using": using, "tenant": scope.tenant}
    written, new = set(done.written), {row.id for row in rows}
    if born := written & done.quarantined & new:
        reason = TombstoneReason.QUARANTINED
        mark_born_hidden(**given, record_ids=born, actor=actor, at=at, reason=reason)
    if not (reworded := written - new):
        return
    closes = (reworded & done.quarantined) - done.poisons
    opens = (reworded & done.poisons) - done.quarantined
    if (closes or opens) and not alone:
        raise GateMoved
    if closes:
        block_derived(**given, ids=closes, actor=actor, at=at)
    if opens:
        unblock_derived(**given, ids=opens, at=at)
        why = ReviewWhy.QUARANTINED
        lapse_reviews(**given, record_ids=opens, why=why, actor=actor, at=at)


def _let_wait(
    using: str,
    scope: Scope,
    rows: Iterable[Row],
    done: Written,
    actor: Actor,
    at: dt.datetime,
) -> None:
    """Let a person look at what the gate holds back."""
    written = set(done.written)
    held_back = written & done.quarantined
    if others := held_back - {row.id for row in rows}:
        # Who was about to decide has read other words.
        lapse_reviews(
            using=using,
            tenant=scope.tenant,
            record_ids=others,
            why=ReviewWhy.QUARANTINED,
            actor=actor,
            at=at,
        )
    if held_back:
        open_reviews(
            using=using,
            tenant=scope.tenant,
            scope_id=scope.id,
            record_ids=held_back,
            why=ReviewWhy.QUARANTINED,
            at=at,
        )


def _announce(using: str, scope: Scope, changed: Sequence[uuid.UUID]) -> None:
    if changed:
        send = partial(
            signals.remembered.send_robust,
            sender=Scope,
            scope=scope,
            ids=tuple(changed),
        )
        transaction.on_commit(send, using=using, robust=True)
