"""Carry out what an ingest has to change, in batches, in its one transaction."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar

from django.db import transaction

from prism_memory import integrity, signals
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.ingest.documents import Document, Piece
from prism_memory.ingest.planning import PLACES, Move, Plan
from prism_memory.ingest.vectors import Vectors, reuse, waiting_of_source, write_made
from prism_memory.lifecycle.columns import columns
from prism_memory.lifecycle.poison import block_derived
from prism_memory.lifecycle.queueing import enqueue, wake
from prism_memory.lifecycle.reviews import open_reviews
from prism_memory.lifecycle.tombstones import mark_born_hidden
from prism_memory.lifecycle.unembed import discount, drop_embeddings
from prism_memory.types import Actor, ReviewWhy, Scope, TombstoneReason

ROWS: Final = 500
"""Rows of one statement."""

T = TypeVar("T")
COLUMNS: Final = (
    *("texts", "lexical_texts", "embed_texts", "languages", "sha256s", "metadatas"),
    *("trusts", "writers", "gates", "gate_reasons", "gate_markers"),
    *("consent_sources", "consent_scopes", "visibles", "granted_ats"),
)


def batches(items: Collection[T]) -> Iterator[list[T]]:
    """Yield at most 500 at a time."""
    rest = iter(items)
    while batch := list(islice(rest, ROWS)):
        yield batch


class Writing:
    """One ingest at work; its source and its chunks are locked."""

    def __init__(
        self,
        using: str,
        scope: Scope,
        actor: Actor,
        document: Document,
        source_id: uuid.UUID,
        at: dt.datetime,
    ) -> None:
        self.using = using
        self.scope = scope
        self.actor = actor
        self.document = document
        self.source_id = source_id
        self.at = at
        self.texts: dict[uuid.UUID, bytes] = {}
        self.gone: Counter[uuid.UUID] = Counter()
        self.quarantined = 0

    @property
    def who(self) -> dict[str, Any]:
        """Whose work it is."""
        return {"using": self.using, "scope": self.scope, "actor": self.actor}

    @property
    def given(self) -> dict[str, Any]:
        """What every statement takes."""
        return {
            "tenant": self.scope.tenant,
            "scope_id": self.scope.id,
            "source_id": self.source_id,
            "generation": self.document.generation,
            "at": self.at,
        }

    def write(
        self, plan: Plan, embedder: str, vectors: Vectors | None, *, wakes: bool
    ) -> bool:
        """Write a plan; tell whether any of it waits for its vector then.

        Vectors are written last: a drain holds some while it waits for the scope's row.
        """
        closing = [move.stored.id for move in plan.moves if move.closes]
        self.quarantined = plan.closed + len(closing)
        for retired in batches(plan.vanished):
            self._retire(retired)
        for moves in batches(plan.moves):
            self._move(moves)
        if closing:
            self._close(closing)
        for added in batches(plan.new):
            self._add(added)
        waits = self._queue(embedder, vectors, wakes=wakes)
        discount(using=self.using, tenant=self.scope.tenant, gone=self.gone)
        return waits

    def _retire(self, ids: Sequence[uuid.UUID]) -> None:
        given = {**self.given, "ids": ids}
        with self._carried(ids):
            queries.execute(self.using, named("ingest")["retire_chunks"], given)
        tenant = self.scope.tenant
        self.gone += drop_embeddings(using=self.using, tenant=tenant, record_ids=ids)

    def _move(self, moves: Sequence[Move]) -> None:
        ids = [move.stored.id for move in moves]
        given = {
            **self.given,
            **_columns([move.piece for move in moves]),
            "ids": ids,
            "closes": [move.closes for move in moves],
        }
        with self._carried(ids):
            queries.execute(self.using, named("ingest")["move_chunks"], given)
        for move in moves:
            if not move.reworded:
                self.texts[move.stored.id] = move.piece.row.embed_sha256
            elif move.stored.embed_sha256:  # it comes back with other words
                self.texts[move.stored.id] = move.stored.embed_sha256

    def _carried(self, ids: Sequence[uuid.UUID]) -> Any:  # noqa: ANN401 - a context
        tenant = self.scope.tenant
        return integrity.carried(using=self.using, tenant=tenant, record_ids=ids)

    def _close(self, ids: Sequence[uuid.UUID]) -> None:
        given: dict[str, Any] = {"using": self.using, "tenant": self.scope.tenant}
        block_derived(**given, ids=frozenset(ids), actor=self.actor, at=self.at)
        let_wait(using=self.using, scope=self.scope, record_ids=ids, at=self.at)

    def _add(self, added: Sequence[tuple[uuid.UUID, str, Piece]]) -> None:
        pieces = [piece for _, _, piece in added]
        ids = [record_id for record_id, _, _ in added]
        given = {
            **self.given,
            **_columns(pieces),
            "ids": ids,
            "keys": [key for _, key, _ in added],
        }
        queries.execute(self.using, named("ingest")["insert_chunks"], given)
        integrity.sign(using=self.using, tenant=self.scope.tenant, record_ids=ids)
        for record_id, _, piece in added:
            self.texts[record_id] = piece.row.embed_sha256
        self._announce(ids)
        held_back = [i for i, _, piece in added if piece.row.verdict.flagged]
        self.quarantined += len(held_back)
        if held_back:
            hide(**self.who, record_ids=held_back, at=self.at)

    def _announce(self, ids: Sequence[uuid.UUID]) -> None:
        send = partial(
            signals.remembered.send_robust,
            sender=Scope,
            scope=self.scope,
            ids=tuple(ids),
        )
        transaction.on_commit(send, using=self.using, robust=True)

    def _queue(self, embedder: str, vectors: Vectors | None, *, wakes: bool) -> bool:
        given: dict[str, Any] = {"using": self.using, "scope": self.scope}
        pending: set[uuid.UUID] = set()
        for some in batches(sorted(self.texts)):
            texts = {record_id: self.texts[record_id] for record_id in some}
            waiting, _ = enqueue(**given, texts=texts, embedder=embedder)
            pending |= waiting
        waits = bool(pending)
        if waits and self._fill(pending, embedder, vectors):
            waiting = waiting_of_source(
                **given, source_id=self.source_id, alias=embedder
            )
            waits = bool(waiting)
        if waits and wakes:
            wake(**given, embedder=embedder)
        return waits

    def _fill(
        self, pending: Collection[uuid.UUID], embedder: str, vectors: Vectors | None
    ) -> bool:
        """Write the vectors that are known already; tell whether any may be."""
        given: dict[str, Any] = {"using": self.using, "scope": self.scope}
        generation = self.document.generation
        if generation is not None:
            reuse(
                **given,
                source_id=self.source_id,
                generation=generation,
                record_ids=pending,
                embedder=embedder,
            )
        if vectors is not None:
            for some in batches(sorted(pending)):
                texts = {record_id: self.texts[record_id] for record_id in some}
                write_made(**given, vectors=vectors, texts=texts, at=self.at)
        return generation is not None or vectors is not None


def hide(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    record_ids: Sequence[uuid.UUID],
    at: dt.datetime,
) -> None:
    """Block what will be derived of new records that the gate holds back."""
    mark_born_hidden(
        using=using,
        tenant=scope.tenant,
        record_ids=record_ids,
        actor=actor,
        at=at,
        reason=TombstoneReason.QUARANTINED,
    )
    let_wait(using=using, scope=scope, record_ids=record_ids, at=at)


def let_wait(
    *, using: str, scope: Scope, record_ids: Sequence[uuid.UUID], at: dt.datetime
) -> None:
    """Let a person look at what the gate holds back."""
    open_reviews(
        using=using,
        tenant=scope.tenant,
        scope_id=scope.id,
        record_ids=record_ids,
        why=ReviewWhy.QUARANTINED,
        at=at,
    )


def _columns(pieces: Sequence[Piece]) -> dict[str, Any]:
    """Return pieces as statements take them: one array for each column."""
    rows = [piece.row for piece in pieces]
    keys = {row.entry.source.key for row in rows if row.entry.source}
    every = columns(rows=rows, sources=dict.fromkeys(keys, uuid.UUID(int=0)))
    places = {
        f"{name}s": [getattr(piece.chunk, name) for piece in pieces] for name in PLACES
    }
    return {name: every[name] for name in COLUMNS} | places
