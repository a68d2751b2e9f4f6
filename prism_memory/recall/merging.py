"""Put what another thread shares among the reader's own candidates. Pure.

Both are measured alike, so each leg orders them by its score, as if all were in one
place: a shared record is a candidate of a leg only where it is among as many as the leg
gives, and pushes none of the reader's own out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

MEASURES: Final = {
    "vector": ("vector_rank", "cosine"),
    "text": ("text_rank", "bm25"),
    "recency": ("recency_rank", "sequence"),
}
"""Where a row says which place a leg gave it, and what that is by."""

Rows = Mapping[str, Mapping[str, Any]]


def merged(
    own: Rows, shared: Rows, legs: Iterable[str], rows: int
) -> dict[str, dict[str, Any]]:
    """Return both with the places that they have together.

    Args:
        own: By record id, what the legs found, and what stands beside it.
        shared: By record id, all that is shared and in sight; measured, not placed.
        legs: Those that were asked.
        rows: Candidates wanted of each leg.
    """
    every = {i: dict(row) for i, row in [*shared.items(), *own.items()]}
    for leg in legs:
        rank, measure = MEASURES[leg]
        found = {i for i, row in own.items() if row[rank] is not None}
        found |= {i for i in shared if every[i][measure] is not None}
        for place, i in enumerate(ordered(every, found, measure), start=1):
            if i in own or place <= rows:
                every[i][rank] = place
    ranks = [MEASURES[leg][0] for leg in legs]
    return {
        i: row
        for i, row in every.items()
        if i in own or any(row[rank] is not None for rank in ranks)
    }


def ordered(rows: Rows, ids: Iterable[str], measure: str) -> Sequence[str]:
    """Return the ids, best first; ties by id, as the statement has it."""
    return sorted(ids, key=lambda i: (-rows[i][measure], i))
