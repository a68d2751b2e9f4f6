"""How far two rankings of the same things agree. Pure: no database, no clock."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """What two spaces say to the same questions.

    Args:
        questions: How many were asked.
        top_k: Of so many nearest.
        overlap: Mean share of them that both name, 0..1.
        correlation: Mean rank correlation of what both name, -1..1; None where no
            question had two of it.
    """

    questions: int
    top_k: int
    overlap: float
    correlation: float | None


def overlap(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Return the share of the longer list that both name, 0..1; 1 for two empty."""
    most = max(len(one), len(other))
    return len(set(one) & set(other)) / most if most else 1.0


def correlation(one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """Return Spearman's rank correlation of what both lists name, -1..1.

    None where that is fewer than two. Source: Spearman (1904), without ties:
    1 - 6 sum(d^2) / (n (n^2 - 1)).
    """
    common = set(one) & set(other)
    count = len(common)
    if count < 2:
        return None
    ranks = [
        {item: rank for rank, item in enumerate(x for x in items if x in common)}
        for items in (one, other)
    ]
    squares = sum((ranks[0][item] - ranks[1][item]) ** 2 for item in common)
    return 1 - 6 * squares / (count * (count * count - 1))


def agreed(
    pairs: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]], *, top_k: int
) -> Agreement:
    """Return how far the answers to some questions agree."""
    overlaps = [overlap(one, other) for one, other in pairs]
    found = [correlation(one, other) for one, other in pairs]
    said = [value for value in found if value is not None]
    return Agreement(
        questions=len(pairs),
        top_k=top_k,
        overlap=math.fsum(overlaps) / len(overlaps) if overlaps else 1.0,
        correlation=math.fsum(said) / len(said) if said else None,
    )
