"""From an order to what is shown: a second opinion, and different things to say."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.local import limited
from prism_memory.db.queries import named
from prism_memory.recall.asking import Providers
from prism_memory.recall.denials import UNCHECKED, Gate
from prism_memory.recall.diversity import mmr
from prism_memory.recall.question import Question
from prism_memory.recall.ranking import Pool, Ranked
from prism_memory.recall.rerank import rerank

COMPARED_PER_HIT: Final = 4
COMPARED_AT_MOST: Final = 64
"""How many of the best are compared with each other, where different ones are wanted:
64 make 2,016 pairs."""

UNCOMPARED: Final = "without vectors nothing is known to be alike"


@dataclass(frozen=True)
class Chosen:
    """What is shown, best first.

    Args:
        ids: At most ``top_k``.
        scores: 0..1, by id: those of the ranking, or by place after a reranker.
        signals: By id, what the score is made of.
        reason: Why it is not chosen as was asked, or empty.
    """

    ids: list[str]
    scores: Mapping[str, float]
    signals: Mapping[str, Mapping[str, float]]
    reason: str = ""


def choose(
    *,
    using: str,
    reader: Reader,
    question: Question,
    pool: Pool,
    ranked: Ranked,
    providers: Providers,
    left: Callable[[], float | None],
    gate: Gate,
) -> Chosen:
    """Return the hits.

    No query unless a reranker or diversity is asked for, or the reader reads by an
    authorization: then what may be shown is looked at again, before a reranker sees it
    and after.

    Args:
        left: Tells how many seconds are left; it raises where none are.
        gate: Who looks again.
    """
    ids, reasons = ranked.ids, list[str]()
    scores: Mapping[str, float] = ranked.scores
    if providers.reranker is not None and len(ids) > 1:
        with limited(using, left()):
            ids = _kept(gate, pool, ids)
        ids, scores, reason = _reranked(question, pool, ranked, ids, providers, left())
        reasons.append(reason)
        with limited(using, left()):
            ids = _kept(gate, pool, ids)
    elif reader.authorization is not None:
        with limited(using, left()):
            ids = gate.first(ids, pool.rows, _wanted(question))
    if question.diversity is not None and question.diversity < 1:
        with limited(using, left()):
            ids, reason = _diverse(using, reader, question, providers, ids, scores)
        reasons.append(reason)
    reasons.append(UNCHECKED if gate.failed else "")
    reason = "; ".join(filter(None, reasons))
    return Chosen(ids[: question.top_k], scores, ranked.signals, reason)


def _kept(gate: Gate, pool: Pool, ids: Sequence[str]) -> list[str]:
    seen = gate.kept({i: pool.rows[i] for i in ids})
    return [i for i in ids if i in seen]


def _wanted(question: Question) -> int:
    """Return how many of the best may be shown, or compared with each other."""
    if question.diversity is None or question.diversity == 1:
        return question.top_k
    compared = min(COMPARED_AT_MOST, COMPARED_PER_HIT * question.top_k)
    return max(compared, question.top_k)


def _reranked(
    question: Question,
    pool: Pool,
    ranked: Ranked,
    ids: Sequence[str],
    providers: Providers,
    timeout_seconds: float | None,
) -> tuple[list[str], Mapping[str, float], str]:
    """Return all ids, the first of them in a reranker's order, and what went wrong.

    A reranker's scores are on a scale of its own: what it ordered is scored by place.
    """
    assert providers.reranker is not None  # noqa: S101 - the caller looked
    texts = [(i, providers.mask(pool.rows[i]["text"])) for i in ids]
    found = rerank(
        question.text, texts, providers.reranker, timeout_seconds=timeout_seconds
    )
    if not found.scores:
        return list(found.ids), ranked.scores, found.reason
    for record_id, score in found.scores.items():
        ranked.signals[record_id]["rerank"] = score
    for record_id, score in ranked.scores.items():
        ranked.signals[record_id]["ranked"] = score
    places = {i: 1 - place / len(found.ids) for place, i in enumerate(found.ids)}
    return list(found.ids), places, found.reason


def _diverse(
    using: str,
    reader: Reader,
    question: Question,
    providers: Providers,
    ids: list[str],
    scores: Mapping[str, float],
) -> tuple[list[str], str]:
    """Return ``top_k`` ids that are good and unlike each other."""
    if providers.leg is None:
        return ids, UNCOMPARED
    first = ids[: _wanted(question)]
    alike = similarity(using, reader, providers.leg.space_id, first)
    trade_off = 1.0 if question.diversity is None else question.diversity
    # Of cosines the best is near 1, so that a trade-off means the same everywhere.
    most = max((scores[i] for i in first), default=0.0) or 1.0
    relative = {i: scores[i] / most for i in first}
    return mmr(first, relative, alike, trade_off, question.top_k), ""


def similarity(
    using: str, reader: Reader, space_id: int, ids: Sequence[str]
) -> Callable[[str, str], float]:
    """Return what tells the cosine of two of the records; 0 without a vector.

    One query. The ids are in sight already.
    """
    given = {
        "tenant": reader.scope.tenant,
        "space_id": space_id,
        "record_ids": [uuid.UUID(record_id) for record_id in ids],
    }
    rows = queries.fetch(using, named("around")["similarities"], given)
    cosines = {(row["one"], row["other"]): row["cosine"] for row in rows}
    return lambda one, other: cosines.get((min(one, other), max(one, other)), 0.0)
