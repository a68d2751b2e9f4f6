"""From a question to passages: recall, look once more, count, tell where from."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.utils import timezone

from prism_memory import backends
from prism_memory.access import Reader, visible
from prism_memory.errors import ScopeDenied
from prism_memory.rag.identity import check_identity
from prism_memory.recall import Request
from prism_memory.recall.denials import Gate
from prism_memory.recall.packing import fitting
from prism_memory.recalling import Recalling
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Hit,
    Passage,
    PassageProvenance,
    Recalled,
    Retrieval,
    Retrieved,
    Scope,
)

PROVIDER: Final = "prism_memory.postgresql"

FOUND_BY: Final[Mapping[str, Retrieval]] = {
    "vector": "vector",
    "text": "lexical",
    "hybrid": "hybrid",
}
"""What found a passage, by the method of its hit."""


@dataclass(frozen=True)
class Row:
    """What a passage's row says beside its words.

    Args:
        version: Which state of it this is.
    """

    id: uuid.UUID
    version: int
    source_id: uuid.UUID
    uri: str
    generation: int | None


@dataclass(frozen=True)
class Bounds:
    """What an answer may hold."""

    max_bytes: int
    max_tokens: int


def retrieve(
    *,
    recalling: Recalling,
    asked: Request,
    bounds: Bounds,
    redaction: Redaction,
) -> Retrieved:
    """Return the passages of a question, the best first.

    Costs what recall does, and a query or two: what was withdrawn, corrected or deleted
    since it was ranked is left out, then bytes and tokens are counted of the rest.

    Raises:
        ScopeDenied: A row came of a scope that was not asked for (B228).
        EmbedderMismatch: A passage is of another embedder.
        Invalid: As ``recall``; likewise the errors of providers and time.
    """
    found = recalling.found(asked)
    check_places(found, asked.reader.places)
    if backends.are_vectors_used() and "vector" in asked.question.asked:
        short = len(found) < asked.question.top_k
        check_identity(
            using=recalling.using,
            alias=recalling.embedder,
            reader=asked.reader,
            ids=None if short else [hit.id for hit in found],
        )
    at = timezone.now()
    rows = standing(recalling.using, replace(asked.reader, at=at), found)
    hits = [hit for hit in found if hit.id in rows]
    shown = fitting(
        hits,
        max_bytes=bounds.max_bytes,
        max_tokens=bounds.max_tokens,
        mask=redaction.mask,
    )
    return Retrieved(
        tuple(passage(hit, rows[hit.id], at, redaction) for hit in shown),
        truncated=len(shown) < len(hits),
        degraded=found.degraded,
        bounded=found.bounded,
        strategy=found.strategy,
        timings_ms=found.timings_ms,
        # What is not shown is named nowhere, not even by its id (B222).
        trace_id=recalling.announce(asked, replace(found, hits=shown)),
    )


def check_places(found: Recalled, places: tuple[Scope, ...]) -> None:
    """Check that all that was found is of the scopes that were asked for.

    Raises:
        ScopeDenied: Something is not. Nothing of it is shown.
    """
    if any(hit.scope not in places for hit in found):
        message = "A row came of a scope that was not asked for."
        raise ScopeDenied(message, field="scopes")


def standing(using: str, reader: Reader, found: Recalled) -> dict[uuid.UUID, Row]:
    """Return the rows of what is still in sight, and says what it said. One query.

    Two more where something is not, and the reader reads by an authorization.

    A deletion that began after the ranking may have ended since (B230).
    """
    versions = {hit.id: hit.version for hit in found}
    if not versions:
        return {}
    rows = visible(using=using, reader=reader).filter(id__in=[*versions])
    columns = ("id", "version", "source_id", "source__uri", "generation")
    found_rows = [Row(*values) for values in rows.values_list(*columns)]
    kept = {row.id: row for row in found_rows if row.version == versions[row.id]}
    if reader.authorization is not None and len(kept) < len(versions):
        tell_of(using, reader, {i: n for i, n in versions.items() if i not in kept})
    return kept


def tell_of(using: str, reader: Reader, gone: Mapping[uuid.UUID, int]) -> None:
    """Tell the audit of documents that were closed to the reader meanwhile (B222)."""
    gate = Gate(using, reader)
    try:
        gate.kept({str(i): {"version": version} for i, version in gone.items()})
    finally:
        gate.tell()


def passage(hit: Hit, row: Row, at: dt.datetime, redaction: Redaction) -> Passage:
    """Return a hit as the store shows it, without configured secrets."""
    metadata = redaction.mask_json(hit.metadata)
    provenance = PassageProvenance(
        source=redaction.mask(hit.source or ""),
        source_id=row.source_id,
        uri=redaction.mask(row.uri),
        chunk_id=hit.id,
        citation=redaction.mask(hit.citation),
        provider=PROVIDER,
        scope=hit.scope,
        retrieval=FOUND_BY[hit.method],
        at=at,
        trust=hit.trust,
        writer=redaction.mask(hit.writer),
        heading=headings(metadata),
        line_start=hit.line_start,
        line_end=hit.line_end,
        offset_start=hit.offset_start,
        offset_end=hit.offset_end,
        generation=row.generation,
    )
    return Passage(
        id=hit.id,
        text=redaction.mask(hit.text),
        score=hit.score,
        retrieval=provenance.retrieval,
        provenance=provenance,
        metadata=metadata,
        cosine=hit.cosine,
        bm25=hit.bm25,
        ranks={FOUND_BY.get(leg, leg): rank for leg, rank in hit.ranks.items()},
    )


def headings(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """Return the headings that a chunk stands under, as its chunker noted them."""
    path = metadata.get("heading")
    return tuple(map(str, path)) if isinstance(path, list | tuple) else ()
