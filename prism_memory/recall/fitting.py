"""Fit the weights of a fusion to labelled questions. Pure: no Django, no database."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.recall.fusion import check_lists, first_ranks, fuse_weighted
from prism_memory.types import check_count, check_finite

GRID: Final = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Weights that are tried for each leg."""

GRID_POINTS: Final = 4_096
"""Most combinations of weights that one fitting may ask for."""

BETTER: Final = 1e-9
"""A gain in nDCG that is no more than this is rounding."""

DEPTH: Final = 10


@dataclass(frozen=True, slots=True)
class Case:
    """A question whose answers are known.

    Args:
        lists: Ids by leg, best first in each; a leg that found nothing may be absent.
        relevant: Ids of the records that answer it.

    Raises:
        Invalid: A list is none of ids, or what is relevant is no collection of them.
    """

    lists: Mapping[str, Sequence[str]]
    relevant: Collection[str]

    def __post_init__(self) -> None:
        check_lists([*self.lists.values()])
        relevant: object = self.relevant
        several = isinstance(relevant, Collection) and not isinstance(relevant, str)
        if not several or not all(isinstance(i, str) for i in self.relevant):
            message = "relevant must be a collection of ids, which are strings."
            raise Invalid(message, field="relevant")


def ndcg(ranked: Sequence[str], relevant: Collection[str], k: int = DEPTH) -> float:
    """Return the normalised discounted cumulative gain of the first ``k``, 0..1.

    A record is relevant or not. The ideal has all relevant ones first; where there are
    none, the result is 0. A repeated id counts once, at its first place.

    Source: Järvelin & Kekäläinen, ACM TOIS 20 (2002), with a binary gain.

    Raises:
        LimitExceeded: ``k`` is no integer of at least 1.
    """
    depth = check_count(k, "k", minimum=1)
    wanted = {*relevant}
    if not wanted:
        return 0.0
    ranks = first_ranks(ranked)
    places = sorted(rank for i, rank in ranks.items() if i in wanted and rank <= depth)
    ideal = range(1, min(len(wanted), depth) + 1)
    return _gain(places) / _gain(ideal)


def fit_weights(
    cases: Sequence[Case], legs: Sequence[str], grid: Sequence[float] = GRID
) -> Mapping[str, float]:
    """Return the weight of each leg with the best mean nDCG@10 of ``fuse_weighted``.

    They are for weighted reciprocal rank: ``recall(…, fusion="rrf", weights=weights)``,
    or ``fuse_weighted(lists, [weights[leg] for leg in legs])``.

    All are 1 unless others do better than that, and by more than rounding (B386). Of
    weights that do equally well, those nearest to 1 are taken. The order of the cases
    and of the legs does not matter. Judge the result on cases that were not fitted to.

    Costs a fusion of every case for each combination of weights whose ratios differ.

    Args:
        cases: Labelled questions.
        legs: Names of the legs to weigh; a leg that a case has is among them.
        grid: Weights tried for each leg, finite and at least 0.

    Raises:
        Invalid: No leg, one twice, a case with another leg, or a weight out of bounds.
        LimitExceeded: The grid has more than 4,096 combinations.
    """
    names = _checked_legs(cases, legs)
    best = dict.fromkeys(names, 1.0)
    most = _mean_ndcg(cases, best)
    for point in _points(len(names), grid):
        weights = dict(zip(names, point, strict=True))
        score = _mean_ndcg(cases, weights)
        if score > most + BETTER:
            best, most = weights, score
    return best


def _checked_legs(cases: Sequence[Case], legs: Sequence[str]) -> list[str]:
    if isinstance(legs, str) or not legs or len({*legs}) < len(legs):
        message = "legs must be one or more names, each once."
        raise Invalid(message, field="legs")
    if any(case.lists.keys() - {*legs} for case in cases):
        message = "A case has a leg that is not among the legs."
        raise Invalid(message, field="cases")
    return sorted(legs)


def _points(legs: int, grid: Sequence[float]) -> list[tuple[float, ...]]:
    """Return the combinations that differ in their ratios, those nearest to 1 first."""
    values = sorted({check_finite(value, "grid") for value in grid})
    if not values or values[0] < 0:
        message = "grid must be weights of at least 0."
        raise Invalid(message, field="grid")
    if len(values) ** legs > GRID_POINTS:
        message = f"grid must have at most GRID_POINTS = {GRID_POINTS:,} combinations."
        raise LimitExceeded(message, field="grid")
    points = [p for p in itertools.product(values, repeat=legs) if any(p)]
    points.sort(key=lambda p: (math.fsum((w - 1) ** 2 for w in p), p))
    ratios: dict[tuple[float, ...], tuple[float, ...]] = {}
    for point in points:
        ratios.setdefault(tuple(weight / max(point) for weight in point), point)
    return [*ratios.values()]


def _mean_ndcg(cases: Sequence[Case], weights: Mapping[str, float]) -> float:
    if not cases:
        return 0.0
    return math.fsum(_ndcg(case, weights) for case in cases) / len(cases)


def _ndcg(case: Case, weights: Mapping[str, float]) -> float:
    shares = [weights[leg] for leg in case.lists]
    fused = fuse_weighted([*case.lists.values()], shares)
    return ndcg([record_id for record_id, _ in fused], case.relevant)


def _gain(ranks: Sequence[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in ranks)
