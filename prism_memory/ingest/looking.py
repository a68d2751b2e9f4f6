"""Look at what stands where a document is to be ingested."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from psycopg import sql

from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.ingest.documents import Document
from prism_memory.ingest.planning import Plan, Stored, ordered, plan
from prism_memory.ingest.sources import refuse_other, taken_out
from prism_memory.lifecycle.granted import require_readable
from prism_memory.types import NIL, Authorization, Ingested, Scope

UNLOCKED: Final = sql.SQL("")


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
            and (row["restricted"] or not document.restricted)
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


def look(
    *,
    using: str,
    scope: Scope,
    document: Document,
    authorization: Authorization | None,
) -> Found:
    """Return what would have to change, without a lock. Three queries, or one.

    One more where the document is restricted.

    Raises:
        NotVisible: As ``ingest``; likewise its conflicts.
    """
    given = {"tenant": scope.tenant, "scope_id": scope.id, "key": document.key}
    statement = composed("ingest", "document", lock=UNLOCKED)
    rows = queries.fetch(using, statement, given)
    if not rows:
        # No id is known yet, and nothing is stored under any.
        pieces = [(NIL, "", piece) for piece in document.pieces]
        return Found(document, None, Plan(new=pieces))
    return found_at(using, scope, document, rows[0], UNLOCKED, authorization)


def found_at(
    using: str,
    scope: Scope,
    document: Document,
    source: Mapping[str, Any],
    lock: sql.SQL,
    authorization: Authorization | None,
) -> Found:
    """Return what would have to change of a source. Three queries, or four.

    Raises:
        NotVisible: As ``ingest``; likewise its conflicts.
    """
    if source["restricted"]:
        require_readable(
            using=using, scope=scope, key=document.key, authorization=authorization
        )
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
        taken=taken_out(using=using, scope=scope, source_id=source["id"], keys=missing),
    )
    return Found(document, source, done)
