"""Recall on one page: embed, find candidates, fuse, weigh what stands around, pack.

The embedder is called first and outside any transaction; then one statement asks both
legs; the rest is arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from prism_memory.access import Reader
from prism_memory.errors import (
    EmbedderMismatch,
    Invalid,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.recall.candidates import VectorLeg, find
from prism_memory.recall.context import Place, with_context
from prism_memory.recall.fusion import convex, order
from prism_memory.recall.items import item_fields
from prism_memory.types import Candidate, Hit, Recalled, Scope, Vector

EmbedQuery = Callable[[str], Vector]
"""Embeds one query; unit length, checked."""

CANDIDATES_PER_HIT: Final = 6
CANDIDATES_AT_LEAST: Final = 32
CANDIDATES_AT_MOST: Final = 128
"""Each leg is asked for more than is shown, so that a record which both legs find a
little further down can win."""

LEGS: Final = (("vector", "vector_rank", "cosine"), ("text", "text_rank", "bm25"))


@dataclass(frozen=True)
class Question:
    """What is asked, and by which legs.

    Args:
        text: Not blank.
        top_k: Hits wanted, 0 to 32.
        legs: ``hybrid``, ``vector`` or ``text``.

    Raises:
        Invalid: There are no such legs.
    """

    text: str
    top_k: int
    legs: str = "hybrid"

    def __post_init__(self) -> None:
        if self.legs not in ("hybrid", "vector", "text"):
            message = "legs must be hybrid, vector or text."
            raise Invalid(message, field="legs")


def recall(
    *,
    using: str,
    reader: Reader,
    question: Question,
    leg: VectorLeg | None = None,
    embed: EmbedQuery | None = None,
) -> Recalled:
    """Return the best visible records, best first.

    Calls the embedder once, unless only text is asked; then one query.

    Args:
        leg: The space to look in; None where there is none.
        embed: Embeds the query with that space's embedder.

    Raises:
        ProviderUnavailable: The embedder is down and only vectors were asked for;
            otherwise the answer is by text alone, and says so.
        ProviderRejected: The embedder refused the question; likewise.
        EmbedderMismatch: ``leg`` is not the active space any more.
    """
    if question.top_k == 0:
        return Recalled()
    leg, degraded = _embedded(question, leg, embed)
    rows = find(
        using=using,
        reader=reader,
        query="" if question.legs == "vector" else question.text,
        leg=leg,
        rows=candidate_rows(question.top_k),
    )
    if leg.vector is not None and not rows[0]["current"]:
        raise EmbedderMismatch
    found = {row["record_id"]: row for row in rows if row["record_id"] is not None}
    ranked = _ranked(found, question)
    if leg.vector is not None and any(row["cosine"] is None for row in found.values()):
        degraded = "some records have no vector yet"
    hits = _pack(ranked, found, reader.scope.tenant, question.top_k)
    strategies = {row["strategy"] for row in found.values()} - {None}
    return Recalled(hits, next(iter(strategies), "none"), degraded)


def candidate_rows(top_k: int) -> int:
    """Return how many candidates each leg is asked for."""
    wanted = max(CANDIDATES_AT_LEAST, CANDIDATES_PER_HIT * top_k)
    return min(wanted, CANDIDATES_AT_MOST)


def _embedded(
    question: Question, leg: VectorLeg | None, embed: EmbedQuery | None
) -> tuple[VectorLeg, str]:
    if question.legs == "text":
        return VectorLeg(), ""
    if leg is None or embed is None:
        return VectorLeg(), "no embedder is configured"
    try:
        vector = embed(question.text)
    except ProviderUnavailable:
        if question.legs == "vector":
            raise
        return VectorLeg(), "the embedder is unavailable"
    except ProviderRejected:
        if question.legs == "vector":
            raise
        return VectorLeg(), "the embedder refused the question"
    return VectorLeg(leg.space_id, leg.dimensions, leg.indexed, vector), ""


def _ranked(
    found: dict[str, dict[str, Any]], question: Question
) -> list[tuple[str, float]]:
    candidates = list(_candidates(found.values()))
    scores = convex(
        {
            leg: {i: row[score] for i, row in found.items() if row[score] is not None}
            for leg, _, score in LEGS
        }
    )
    if question.legs != "vector":
        places = [
            Place(i, str(row["source_id"] or "") or None, row["ordinal"], row["writer"])
            for i, row in found.items()
        ]
        scores = with_context(scores, places, question.text)
    sequences = {record_id: row["sequence"] for record_id, row in found.items()}
    return [(i, scores[i]) for i in order(scores, candidates, sequences)]


def _candidates(rows: Iterable[dict[str, Any]]) -> Iterable[Candidate]:
    for row in rows:
        for leg, rank, score in LEGS:
            if row[rank] is not None:
                yield Candidate(row["record_id"], leg, row[rank], row[score])


def _pack(
    ranked: list[tuple[str, float]],
    found: dict[str, dict[str, Any]],
    tenant: str,
    top_k: int,
) -> tuple[Hit, ...]:
    return tuple(_hit(found[i], tenant, score) for i, score in ranked[:top_k])


def _hit(row: dict[str, Any], tenant: str, score: float) -> Hit:
    ranks = {leg: row[rank] for leg, rank, _ in LEGS if row[rank] is not None}
    return Hit(
        **item_fields(row, Scope(tenant, row["owner"], row["agent"], row["thread"])),
        score=score,
        method="hybrid" if len(ranks) > 1 else next(iter(ranks)),
        cosine=row["cosine"],
        bm25=row["bm25"],
        ranks=ranks,
    )
