"""Ingest a document: what is new of it, what moved, what it holds no longer."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db import transaction
from psycopg import sql

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.ingest.documents import Document, Piece, chunk_id
from prism_memory.ingest.planning import Plan, Stored, ordered, plan
from prism_memory.ingest.vectors import Vectors
from prism_memory.ingest.writing import Writing
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import (
    Actor,
    Ingested,
    Scope,
    SourceKind,
    SourceState,
    record_ref,
    uuid7,
)

LOCKED: Final = sql.SQL("FOR NO KEY UPDATE")
UNLOCKED: Final = sql.SQL("")
TRIES: Final = 100
"""Erasures of one source that an ingest meets in a row, at most."""


class NotJudged(Exception):
    """Others changed the document meanwhile: more pieces have to be judged."""


class Closes(Exception):
    """The gate closes on what was there: the lineage has to be held alone."""


@dataclass(frozen=True)
class How:
    """How a document is to be ingested.

    Args:
        embedder: Alias whose live spaces get a pending vector for each new chunk.
        vectors: Made before, of texts that are new.
        wakes: Tell the worker; False for a caller who embeds by itself.
        reason: For the audit; no text content.
    """

    embedder: str
    vectors: Vectors | None = None
    wakes: bool = True
    reason: str = ""


@for_tenant
def ingest(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    document: Document,
    how: How,
    at: dt.datetime,
) -> Ingested:
    """Store a document at exactly ``scope``, or what changed of it: all, or nothing.

    Unchanged chunks keep their ids and vectors, and only move; those that it holds no
    longer are retired, and come back if it does. What a person forgot does not. The
    same document changes nothing: three queries. Else some fifteen, and up to nine for
    every 500 chunks.

    Raises:
        Conflict: A stream has the key, or the source is retired; or facts cite a chunk
            that would get another trust class.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    judged: dict[str, Piece] = {}
    alone = False
    while True:
        found = look(using=using, scope=scope, document=document)
        if found.is_same:
            return found.told(unchanged=True)
        # Outside the transaction: the gate may ask the host's classifier.
        wanted = found.plan.unjudged(judged)
        judged |= {piece.name: piece.judged() for piece in wanted}
        pieces = tuple(judged.get(piece.name, piece) for piece in document.pieces)
        document = replace(document, pieces=pieces)
        try:
            with transaction.atomic(using=using):
                hold_lineage(using=using, tenant=scope.tenant, alone=alone)
                return _change(using, scope, actor, document, how, at, judged, alone)
        except NotJudged:
            continue
        except Closes:
            alone = True


def _change(
    using: str,
    scope: Scope,
    actor: Actor,
    document: Document,
    how: How,
    at: dt.datetime,
    judged: Collection[str],
    alone: bool,
) -> Ingested:
    """Lock, check, change and record.

    Raises:
        NotJudged: Others changed the document since it was looked at.
        Closes: The gate closes on what was there, and the lineage is not held alone.
    """
    ensure_scope(using=using, scope=scope, at=at)
    source = _lock(using, scope, document, at)
    found = _found(using, scope, document, source, LOCKED)
    if found.plan.unjudged(judged):
        raise NotJudged
    if any(move.closes for move in found.plan.moves) and not alone:
        raise Closes
    writing = Writing(using, scope, actor, document, found.id, at)
    waits = writing.write(found.plan, how.embedder, how.vectors, wakes=how.wakes)
    _write_source(using, scope, document, found, at, waits=waits)
    told = found.told(quarantined=writing.quarantined)
    told = replace(told, pending=found.still_waits or waits)
    _record(using, scope, actor, told, at, how.reason)
    return told


@dataclass(frozen=True)
class Found:
    """What stands where a document is ingested.

    Args:
        source: Its row; None where there is none.
    """

    document: Document
    source: Mapping[str, Any] | None
    plan: Plan

    @property
    def id(self) -> uuid.UUID:
        """Of the source."""
        assert self.source is not None  # noqa: S101 - whoever asks has locked it
        found: uuid.UUID = self.source["id"]
        return found

    @property
    def is_same(self) -> bool:
        """Whether nothing has to be written."""
        return self.source is not None and self.plan.is_empty and self._is_described

    @property
    def _is_described(self) -> bool:
        row, document = self.source or {}, self.document
        names = ("uri", "chunker", "language", "bytes")
        same = all(row[name] == getattr(document, name) for name in names)
        origin = document.origin
        return (
            same
            and bytes(row["sha256"] or b"") == document.sha256
            and (row["trust"], row["writer"]) == (origin.trust.value, origin.writer)
            and ordered(row["metadata"]) == ordered(document.metadata)
        )

    def texts(self) -> dict[bytes, str]:
        """Return what has to be embedded, by its SHA-256."""
        moves = self.plan.moves
        pieces = [piece for _, _, piece in self.plan.new]
        pieces += [
            move.piece
            for move in moves
            if (move.restored or move.redescribed) and not move.reworded
        ]
        rows = [piece.row for piece in pieces]
        return {row.embed_sha256: row.embed_text or row.entry.text for row in rows}

    @property
    def still_waits(self) -> bool:
        """Whether chunks that stay were not all embedded when somebody last looked."""
        row = self.source or {}
        return bool(row) and row["ingestion"] == "pending" and self.plan.kept > 0

    @property
    def chunks(self) -> int:
        """How many are in force once the plan is carried out."""
        return self.plan.kept + len(self.plan.new)

    def told(
        self, *, unchanged: bool = False, quarantined: int | None = None
    ) -> Ingested:
        """Return what a caller is told."""
        moves = self.plan.moves
        restored = sum(move.restored for move in moves)
        return Ingested(
            source_id=self.id,
            chunks=self.chunks,
            added=len(self.plan.new),
            kept=self.plan.kept,
            moved=len(moves) - restored,
            restored=restored,
            retired=len(self.plan.vanished),
            withheld=self.plan.withheld,
            quarantined=self.plan.closed if quarantined is None else quarantined,
            unchanged=unchanged,
            pending=self.still_waits,
        )


def look(*, using: str, scope: Scope, document: Document) -> Found:
    """Return what would have to change, without a lock. Three queries, or one.

    Raises:
        Conflict: As ``ingest``.
    """
    given = {"tenant": scope.tenant, "scope_id": scope.id, "key": document.key}
    statement = composed("ingest", "document", lock=UNLOCKED)
    rows = queries.fetch(using, statement, given)
    if not rows:
        # No id is known yet, and nothing is stored under any.
        pieces = [(uuid.UUID(int=0), "", piece) for piece in document.pieces]
        return Found(document, None, Plan(new=pieces))
    return _found(using, scope, document, rows[0], UNLOCKED)


def _found(
    using: str,
    scope: Scope,
    document: Document,
    source: Mapping[str, Any],
    lock: sql.SQL,
) -> Found:
    refuse_other(source)
    keys = [document.key_of(source["id"], piece) for piece in document.pieces]
    given = {
        "tenant": scope.tenant,
        "source_id": source["id"],
        "generation": document.generation,
        "keys": keys,
    }
    rows = queries.fetch(using, composed("ingest", "chunks", lock=lock), given)
    stored = {row["key"]: Stored.read(row) for row in rows}
    missing = [key for key in keys if key not in stored]
    done = plan(
        document,
        tenant=scope.tenant,
        source_id=source["id"],
        stored=stored,
        taken=_taken(using, scope, missing),
    )
    return Found(document, source, done)


def refuse_other(source: Mapping[str, Any]) -> None:
    """Do nothing if a source is a document in use.

    Raises:
        Conflict: It is not.
    """
    if source["kind"] != SourceKind.DOCUMENT:
        message = "A stream has that key: its records are remembered, not ingested."
        raise Conflict(message, field="key")
    if source["state"] != SourceState.ACTIVE:
        message = "The source is retired: restore it first."
        raise Conflict(message, field="key")


def _taken(using: str, scope: Scope, keys: list[str]) -> set[str]:
    if not keys:
        return set()
    refs = [record_ref(chunk_id(scope.tenant, key)) for key in keys]
    statement = queries.named("ingest")["taken_out"]
    rows = queries.fetch(using, statement, {"tenant": scope.tenant, "refs": refs})
    return {row["target_ref"] for row in rows}


def _lock(
    using: str, scope: Scope, document: Document, at: dt.datetime
) -> Mapping[str, Any]:
    """Return the source's row, locked; it is made unless it is there.

    Raises:
        Conflict: It is erased again and again.
    """
    given = {
        "id": uuid7(),
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "key": document.key,
        "uri": document.uri,
        "trust": document.origin.trust.value,
        "writer": document.origin.writer,
        "chunker": document.chunker,
        "language": document.language,
        "at": at,
    }
    statement = composed("ingest", "document", lock=LOCKED)
    rows = queries.fetch(using, statement, given)
    tries = 0
    while not rows and tries < TRIES:
        queries.execute(using, queries.named("ingest")["ensure_document"], given)
        rows = queries.fetch(using, statement, given)
        tries += 1
    if not rows:
        message = "The source was erased each time it was made; try again."
        raise Conflict(message, field="key")
    return rows[0]


def _write_source(
    using: str,
    scope: Scope,
    document: Document,
    found: Found,
    at: dt.datetime,
    *,
    waits: bool,
) -> None:
    given = {
        "tenant": scope.tenant,
        "source_id": found.id,
        "uri": document.uri,
        "trust": document.origin.trust.value,
        "writer": document.origin.writer,
        "sha256": document.sha256,
        "bytes": document.bytes,
        "chunks": found.chunks,
        "chunker": document.chunker,
        "language": document.language,
        "metadata": ordered(document.metadata),
        "ingestion": "pending" if waits or found.still_waits else "indexed",
        "at": at,
    }
    queries.execute(using, queries.named("ingest")["write_document"], given)


def _record(
    using: str, scope: Scope, actor: Actor, told: Ingested, at: dt.datetime, reason: str
) -> None:
    names = ("chunks", "added", "moved", "restored", "retired", "withheld")
    audit.record(
        using=using,
        tenant=scope.tenant,
        actor=actor,
        action="source.ingest",
        target=f"source:{told.source_id}",
        at=at,
        reason=reason,
        detail={name: getattr(told, name) for name in names},
    )
