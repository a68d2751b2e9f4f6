"""Fuse what the legs found. Pure: no Django, no database, no clock."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.types import Candidate, check_finite

RRF_K: Final = 60
"""Rank offset. Source: Cormack, Clarke & Büttcher, SIGIR 2009, section 3."""

SHARPNESS: Final[Mapping[str, float]] = {"vector": 1.0, "text": 2.0}
"""Power of a leg's relative score: above 1 the best stand out; 1 where none is named.
Measured, see docs/benchmarks.md."""

ABSOLUTE: Final = frozenset({"entity"})
"""Legs whose scores mean the same in each answer: these are taken as they are."""

Leg = Mapping[str, float]
"""The score that a leg has for each record, by the record's id."""


def fuse_rrf(
    lists: Sequence[Sequence[str]], k: float = RRF_K
) -> list[tuple[str, float]]:
    """Return ids and fused scores, ``sum(1 / (k + rank))``, best first.

    See ``fuse_weighted``, of which this is the case of equal weights.
    """
    return fuse_weighted(lists, None, k)


def fuse_weighted(
    lists: Sequence[Sequence[str]],
    weights: Sequence[object] | None = None,
    k: float = RRF_K,
) -> list[tuple[str, float]]:
    """Return ids and fused scores, ``sum(weight / (k + rank))``, best first.

    Ties go by the best rank in any list, then by id. The order of the lists, with
    their weights, does not matter.

    Args:
        lists: Ids, best first; ranks start at 1 in each. An id that a list repeats
            counts once, at its first place there.
        weights: One for each list, in their order. A missing one counts 1, and so does
            one that is no number, not finite or below 0; any beyond the lists are not
            read. Of weights by leg, give ``[weights[leg] for leg in legs]``.
        k: Rank offset, above 0.

    Raises:
        Invalid: A list is none of ids, ``k`` is not positive and finite, or the
            weights have no order or are so large that a score is not finite.

    Source: Cormack, Clarke & Büttcher, SIGIR 2009.
    """
    offset = check_k(k)
    shares = [*map(share, check_ordered(weights))]
    shares += [1.0] * (len(lists) - len(shares))
    parts: dict[str, list[float]] = defaultdict(list)
    best: dict[str, int] = {}
    for ids, weight in zip(check_lists(lists), shares, strict=False):
        for record_id, rank in first_ranks(ids).items():
            parts[record_id].append(weight / (offset + rank))
            best[record_id] = min(rank, best.get(record_id, rank))
    scores = {record_id: _sum(found) for record_id, found in parts.items()}
    ranked = sorted(scores, key=lambda i: (-scores[i], best[i], i))
    return [(record_id, scores[record_id]) for record_id in ranked]


def first_ranks(ids: Iterable[str]) -> dict[str, int]:
    """Return the first place of each id, from 1."""
    ranks: dict[str, int] = {}
    for rank, record_id in enumerate(ids, 1):
        ranks.setdefault(record_id, rank)
    return ranks


def check_lists(lists: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Return ``lists`` if they are lists of ids.

    Raises:
        Invalid: A list is a string, whose letters would be taken for ids, or an id is
            none.
    """
    flat = isinstance(lists, str) or any(isinstance(ids, str) for ids in lists)
    if flat or not all(isinstance(i, str) for ids in lists for i in ids):
        message = "lists must be lists of ids, which are strings."
        raise Invalid(message, field="lists")
    return lists


def check_ordered(weights: Sequence[object] | None) -> Sequence[object]:
    """Return the weights, or none.

    Raises:
        Invalid: They are not one after the other, as the lists are: of a mapping, such
            as ``fit_weights`` returns, the keys would be taken for them.
    """
    given: object = weights
    if isinstance(given, str | Mapping | Set):
        message = "weights must be numbers in the order of the lists."
        raise Invalid(message, field="weights")
    return weights or ()


def check_k(k: float) -> float:
    """Return the rank offset.

    Raises:
        Invalid: It is not positive and finite.
    """
    offset = check_finite(k, "k")
    if offset <= 0:
        message = "k must be positive."
        raise Invalid(message, field="k")
    return offset


def share(weight: object) -> float:
    """Return the weight as a number; 1 if it is none, not finite or below 0 (B363)."""
    try:
        number = check_finite(weight, "weight")
    except Invalid:
        return 1.0
    return number if number >= 0 else 1.0


def _sum(parts: Iterable[float]) -> float:
    """Return the sum, which is the same in any order, as ``math.fsum`` rounds once."""
    try:
        return math.fsum(parts)
    except OverflowError:
        message = "The weights are too large to be added."
        raise Invalid(message, field="weights") from None


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
    offset = check_k(k)
    ranks: dict[str, list[int]] = defaultdict(list)
    for candidate in candidates:
        ranks[candidate.record_id].append(candidate.rank)
    return {
        record_id: math.fsum(1 / (offset + rank) for rank in found)
        for record_id, found in ranks.items()
    }


def convex(legs: Mapping[str, Leg]) -> dict[str, float]:
    """Return the mean of each record's relative scores in the legs, 0..1.

    A full-text score is taken relative to the best; a cosine, whose zero means little,
    by its place between the worst and the best candidate. A leg that has no score for
    a record counts 0, and one that has none at all does not count.

    Source: Bruch, Gai & Ingber, ACM TOIS 42 (2023): mixing normalised scores beats
    mixing ranks.

    Args:
        legs: By the leg's name, the score of each record that it has one for.
    """
    return weighted_convex(legs, {})


def weighted_convex(
    legs: Mapping[str, Leg], weights: Mapping[str, object]
) -> dict[str, float]:
    """Return ``convex`` with a share for each leg, 0..1; equal ones give ``convex``.

    Args:
        weights: By leg; only their ratios matter. See ``shares`` for what is missing.
    """
    told = shares(legs, weights)
    fused: dict[str, float] = {}
    for leg, weight in told.items():
        scores = legs[leg]
        kind = leg.partition(".")[0]
        power = SHARPNESS.get(kind, 1.0)
        floor = min(scores.values()) if kind == "vector" else 0.0
        span = max(scores.values()) - floor if kind not in ABSOLUTE else 1.0
        for record_id, score in scores.items():
            relative = max(score - floor, 0.0) / span if span > 0 else 1.0
            fused[record_id] = fused.get(record_id, 0.0) + weight * relative**power
    most = sum(told.values())
    return {record_id: score / most for record_id, score in fused.items()}


def rrf_of(
    ranks: Mapping[str, Mapping[str, int]],
    weights: Mapping[str, object] | None = None,
    k: float = RRF_K,
) -> dict[str, float]:
    """Return the reciprocal rank fusion of the legs, 0..1; 1 is the first of each leg.

    The arithmetic of ``fuse_weighted``, divided by the most that was possible.

    Args:
        ranks: By the leg's name, the place of each record that it found, from 1.
        weights: By leg; only their ratios matter. See ``shares`` for what is missing.
        k: Rank offset, above 0.

    Raises:
        Invalid: ``k`` is not positive and finite.
    """
    offset = check_k(k)
    told = shares(ranks, weights or {})
    fused: dict[str, list[float]] = defaultdict(list)
    for leg, weight in told.items():
        for record_id, rank in ranks[leg].items():
            fused[record_id].append((offset + 1) / (offset + rank) * weight)
    most = math.fsum(told.values())
    return {record_id: math.fsum(found) / most for record_id, found in fused.items()}


def shares(
    legs: Mapping[str, Mapping[str, float]], weights: Mapping[str, object]
) -> dict[str, float]:
    """Return the weights of the legs that found something, by name; the largest is 1.

    Scores are added in the order of the names: then the order of ``legs`` is nothing.
    A weight that is missing or invalid counts 1. Where only legs of weight 0 found
    anything, they count alike, so that a poorer answer still has an order.
    """
    told = {leg: share(weights.get(leg)) for leg in sorted(legs) if legs[leg]}
    most = max(told.values(), default=0.0)
    return {leg: weight / most if most else 1.0 for leg, weight in told.items()}


def order(scores: Mapping[str, float], sequences: Mapping[str, int]) -> list[str]:
    """Return the ids by score, then sequence, then id (B114).

    No leg's rank comes between: of equals it goes by the id.
    """
    return sorted(scores, key=lambda i: (-scores[i], sequences[i], i))
