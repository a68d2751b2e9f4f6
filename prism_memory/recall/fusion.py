"""Fuse what the legs found. Pure: no Django, no database, no clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.types import Candidate

RRF_K: Final = 60
"""Rank offset. Source: Cormack, Clarke & Büttcher, SIGIR 2009, section 3."""

SHARPNESS: Final = 1.5
"""Power of a leg's relative score: above 1 the best stand out. Measured, as are the
equal shares of the legs; see docs/benchmarks.md."""


def reciprocal_rank(
    candidates: Iterable[Candidate], *, k: float = RRF_K
) -> dict[str, float]:
    """Return the fused score of each record, ``sum(1 / (k + rank))``; higher is better.

    Args:
        candidates: From any number of legs, in any order; ranks start at 1 in each.
        k: Rank offset, above 0.

    Raises:
        Invalid: ``k`` is not above 0.
    """
    if not 0 < k < float("inf"):
        message = "k must be positive and finite."
        raise Invalid(message, field="k")
    ranks: dict[str, list[int]] = defaultdict(list)
    for candidate in candidates:
        ranks[candidate.record_id].append(candidate.rank)
    return {
        record_id: sum(1 / (k + rank) for rank in sorted(found))
        for record_id, found in ranks.items()
    }


def convex(legs: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each record's relative scores in the legs, 0..1.

    A full-text score is taken relative to the best; a cosine, whose zero means little,
    by its place between the worst and the best candidate. A leg that has no score for
    a record counts 0, and one that has none at all does not count.

    Source: Bruch, Gai & Ingber, ACM TOIS 42 (2023): mixing normalised scores beats
    mixing ranks.

    Args:
        legs: By the leg's name, the score of each record that it has one for.
    """
    told = sorted(leg for leg, scores in legs.items() if scores)
    fused: dict[str, list[float]] = defaultdict(list)
    for leg in told:
        floor = min(legs[leg].values()) if leg == "vector" else 0.0
        span = max(legs[leg].values()) - floor
        for record_id, score in legs[leg].items():
            relative = (score - floor) / span if span > 0 else 1.0
            fused[record_id].append(relative**SHARPNESS)
    return {record_id: sum(found) / len(told) for record_id, found in fused.items()}


def order(
    scores: Mapping[str, float],
    candidates: Iterable[Candidate],
    sequences: Mapping[str, int],
) -> list[str]:
    """Return the ids by score, then best rank in any leg, then sequence, then id.

    The order of the candidates does not matter.
    """
    best: dict[str, int] = {}
    for candidate in candidates:
        rank = best.get(candidate.record_id, candidate.rank)
        best[candidate.record_id] = min(rank, candidate.rank)

    def place(record_id: str) -> tuple[float, int, int, str]:
        return (
            -scores[record_id],
            best[record_id],
            sequences[record_id],
            record_id,
        )

    return sorted(scores, key=place)
