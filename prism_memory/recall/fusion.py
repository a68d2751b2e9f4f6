"""Fuse ranked lists. Pure: no Django, no database, no clock."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.types import Candidate

RRF_K: Final = 60
"""Rank offset. Source: Cormack, Clarke & Büttcher, SIGIR 2009, section 3."""

RECALL_K: Final = 10
"""Rank offset of recall. 60 was fitted to lists of thousands; over the some hundreds
of records of one owner it flattens the ranks until fusing is worse than text alone
(docs/benchmarks.md)."""


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
