"""Ingest a document: what is new of it, what moved, what it holds no longer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass, replace

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.tenancy import for_tenant
from prism_memory.ingest.documents import Document, Piece
from prism_memory.ingest.looking import Found, found_at, look
from prism_memory.ingest.planning import ordered
from prism_memory.ingest.sources import (
    LOCKED,
    ensure_document,
)
from prism_memory.ingest.vectors import Vectors
from prism_memory.ingest.writing import Writing
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.set_access import restrict
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import (
    Actor,
    Authorization,
    Ingested,
    Scope,
)


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
        authorization: As whom the caller reads restricted documents.
    """

    embedder: str
    vectors: Vectors | None = None
    wakes: bool = True
    reason: str = ""
    authorization: Authorization | None = None


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
        NotVisible: The document is restricted, and not granted to the caller: else who
            guesses its words would be told.
        Conflict: A stream has the key, or the source is retired; or facts cite a chunk
            that would get another trust class.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    judged: dict[str, Piece] = {}
    alone = False
    while True:
        found = look(
            using=using,
            scope=scope,
            document=document,
            authorization=how.authorization,
        )
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
    source = ensure_document(
        using=using,
        scope=scope,
        key=document.key,
        uri=document.uri,
        origin=document.origin,
        chunker=document.chunker,
        language=document.language,
        at=at,
    )
    who = how.authorization
    found = found_at(using, scope, document, source, LOCKED, who)
    if found.plan.unjudged(judged):
        raise NotJudged
    if any(move.closes for move in found.plan.moves) and not alone:
        raise Closes
    writing = Writing(using, scope, actor, document, found.id, at)
    waits = writing.write(found.plan, how.embedder, how.vectors, wakes=how.wakes)
    _write_source(using, scope, document, found, at, waits=waits)
    if document.restricted and not source["restricted"]:
        restrict(
            using=using,
            scope=scope,
            actor=actor,
            source_id=found.id,
            at=at,
            reason=how.reason,
        )
    told = found.told(quarantined=writing.quarantined)
    told = replace(told, pending=found.still_waits or waits)
    _record(using, scope, actor, told, at, how.reason)
    return told


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
