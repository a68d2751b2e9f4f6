"""Choose records that say different things. Pure: no Django, no database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from prism_memory.errors import Invalid
from prism_memory.types import check_count, check_finite


def mmr(
    ids: Sequence[str],
    scores: Mapping[str, float],
    similarity: Callable[[str, str], float],
    trade_off: float,
    top_k: int,
) -> list[str]:
    """Return up to ``top_k`` ids by maximal marginal relevance.

    Each next one has the most of ``trade_off * score - (1 - trade_off) * nearest``,
    where ``nearest`` is the similarity to the most similar of those already chosen.
    Ties go by score, then by place in ``ids``.

    Source: Carbonell & Goldstein, SIGIR 1998.

    Args:
        ids: Best first; a repeated one counts once.
        scores: Of each id, on the scale of the similarities.
        similarity: Of two ids, such as the cosine of their vectors. Called once for
            each chosen id and each that is left, and never where ``trade_off`` is 1.
        trade_off: 0..1; 1 is the order by score, 0 looks for what is new alone.
        top_k: Most ids returned.

    Raises:
        Invalid: ``trade_off`` is not in 0..1, or an id has no score.
        LimitExceeded: ``top_k`` is no integer of at least 0.
    """
    wanted = check_count(top_k, "top_k")
    left = _by_score(ids, scores)
    if _share(trade_off) == 1:
        return left[:wanted]
    nearest: dict[str, float] = {}
    chosen: list[str] = []
    while left and len(chosen) < wanted:
        # Of equals, max() takes the first, which is the best by score.
        best = max(left, key=lambda i: _margin(scores[i], nearest.get(i), trade_off))
        left.remove(best)
        chosen.append(best)
        if len(chosen) < wanted:
            _note(nearest, left, best, similarity)
    return chosen


def _by_score(ids: Sequence[str], scores: Mapping[str, float]) -> list[str]:
    unscored = {*ids}.difference(scores)
    if unscored:
        message = f"{len(unscored)} of the ids have no score."
        raise Invalid(message, field="scores")
    return sorted(dict.fromkeys(ids), key=lambda i: -scores[i])


def _share(trade_off: float) -> float:
    share = check_finite(trade_off, "trade_off")
    if not 0 <= share <= 1:
        message = "trade_off must be in 0..1."
        raise Invalid(message, field="trade_off")
    return share


def _margin(score: float, nearest: float | None, trade_off: float) -> float:
    return trade_off * score - (1 - trade_off) * (nearest or 0.0)


def _note(
    nearest: dict[str, float],
    left: Sequence[str],
    chosen: str,
    similarity: Callable[[str, str], float],
) -> None:
    for record_id in left:
        alike = similarity(record_id, chosen)
        nearest[record_id] = max(alike, nearest.get(record_id, alike))
