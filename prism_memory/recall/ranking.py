"""From what the legs found to an order. Pure: no database, no clock, no Django.

Fuse what the legs say, let speak what stands around, then age, importance and trust.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.recall import scoring
from prism_memory.recall.blending import blend, coverage
from prism_memory.recall.context import Place, named_in, with_context
from prism_memory.recall.fusion import RRF_K, order, rrf_of, weighted_convex
from prism_memory.recall.question import Question

Row = Mapping[str, Any]

ENTITY: Final = "entity"
"""The leg of what shares an entity: its name, and the column of its damping."""

COLUMNS: Final = {
    "vector": ("vector_rank", "cosine"),
    "text": ("text_rank", "bm25"),
    "recency": ("recency_rank", None),
}
"""Where a row says which place a leg gave it, and how well it does by that leg."""


@dataclass
class Pool:
    """The candidates of all legs.

    Args:
        rows: By record id.
        ranks: By leg, the place of each record that it found, from 1.
        scores: By leg, the score of each record that has one.
        unembedded: Those that should have been compared, and have no vector.
    """

    rows: dict[str, Row] = field(default_factory=dict)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    unembedded: set[str] = field(default_factory=set)

    def add(self, rows: Mapping[str, Row], legs: Iterable[str], variant: int) -> None:
        """Add what was found for the question (1) or one of its variants."""
        for leg in legs:
            rank, score = COLUMNS[leg]
            name = leg if variant == 1 else f"{leg}.{variant}"
            ranks = {i: row[rank] for i, row in rows.items() if row[rank] is not None}
            self.ranks[name] = ranks
            self.scores[name] = (
                by_place(ranks) if score is None else by_score(rows, score)
            )
            if leg == "vector":
                self.unembedded |= {i for i in rows if rows[i]["cosine"] is None}
        if variant > 1:  # they were measured against other words
            rows = {i: {**row, "cosine": None, "bm25": None} for i, row in rows.items()}
        self.rows = {**rows, **self.rows}

    def widen(self, rows: Mapping[str, Row], hops: int) -> None:
        """Add facts that share an entity with what was found, best first.

        One of a further hop scores less than all of a nearer one (B394). By the other
        legs each is as something that stands beside: see ``by_score``.

        Args:
            hops: From what was found; 0 for what the question itself names.
        """
        ranks = self.ranks.setdefault(ENTITY, {})
        scores = self.scores.setdefault(ENTITY, {})
        damped = scoring.damping(hops)
        self._compare({i: row for i, row in rows.items() if i not in self.rows})
        for place, i in enumerate(rows):
            ranks[i] = len(ranks) + 1
            scores[i] = damped * (1 - place / len(rows) / 2)
            self.rows[i] = {**rows[i], **self.rows.get(i, {}), ENTITY: damped}

    def _compare(self, rows: Mapping[str, Row]) -> None:
        """Let the vector leg, where it was asked, tell of what it did not find."""
        if (scores := self.scores.get("vector")) is None:
            return
        least = min(scores.values(), default=0.0)
        for i, row in rows.items():
            if row["cosine"] is None:
                self.unembedded.add(i)
            else:
                scores[i] = max(row["cosine"], least)


def by_place(ranks: Mapping[str, int]) -> dict[str, float]:
    """Return a score for each place, evenly from 1 down; 0..1."""
    return {i: 1 - (place - 1) / len(ranks) for i, place in ranks.items()}


def by_score(rows: Mapping[str, Row], column: str) -> dict[str, float]:
    """Return the scores that a leg gave.

    What only stands beside is never below the least that a leg found: the scores are
    taken relative to that.
    """
    told = {i: row[column] for i, row in rows.items() if row[column] is not None}
    beside = [i for i in told if not is_found(rows[i])]
    if beside:
        least = min((told[i] for i in told.keys() - beside), default=0.0)
        told |= {i: max(told[i], least) for i in beside}
    return told


def is_found(row: Row) -> bool:
    """Tell whether any leg found it; else it stands beside one that was."""
    ranks = row["vector_rank"], row["text_rank"], row["recency_rank"]
    return ranks != (None, None, None)


@dataclass(frozen=True)
class Ranked:
    """The candidates in order.

    Args:
        ids: Best first.
        scores: 0..1, by id.
        signals: By id, what the score is made of.
    """

    ids: list[str]
    scores: dict[str, float]
    signals: dict[str, dict[str, float]]


def rank(
    pool: Pool,
    question: Question,
    *,
    at: dt.datetime,
    factors: Mapping[str, float] | None = None,
    strengths: Mapping[str, tuple[float, dt.datetime | None]] | None = None,
) -> Ranked:
    """Return the candidates, best first; ties by sequence, then id (B114).

    Args:
        at: Moment that ages are counted from.
        factors: What trust classes multiply a score by.
        strengths: Of records that were recalled: strength, and when they last were.
    """
    scores = fused(pool, question)
    best = max(scores.values(), default=0.0)
    signals: dict[str, dict[str, float]] = {i: {} for i in pool.rows}
    for step in (
        around(pool, question, scores),
        composed(pool, question, scores, at, best),
        decayed(pool, question, scores, at, strengths or {}),
        trusted(pool, question, scores, factors),
    ):
        for record_id, told in step.items():
            signals[record_id].update(told)
    sequences = {i: row["sequence"] for i, row in pool.rows.items()}
    return Ranked(order(scores, sequences), scores, signals)


def fused(pool: Pool, question: Question) -> dict[str, float]:
    """Return the fused score of each candidate, 0..1; 0 for what no leg found."""
    weights = {leg: question.weight_of[leg.partition(".")[0]] for leg in pool.scores}
    if question.fusion == "rrf":
        found = rrf_of(pool.ranks, weights, question.rrf_k or RRF_K)
    elif question.fusion == "blend":
        covered = {
            i: coverage(question.text, row["text"]) for i, row in pool.rows.items()
        }
        found = blend(pool.scores.get("vector", {}), covered, question.words_share)
    else:
        found = weighted_convex(pool.scores, weights)
    return {i: found.get(i, 0.0) for i in pool.rows}


Told = dict[str, dict[str, float]]
"""By record id, what a step says of it."""


def around(pool: Pool, question: Question, scores: dict[str, float]) -> Told:
    """Let what stands around speak; change the scores, and tell what they were."""
    told = {i: {"fused": score} for i, score in scores.items()}
    if question.uses_context and may_speak(pool, question):
        places = [place_of(i, row) for i, row in pool.rows.items()]
        scores.update(with_context(scores, places, question.text))
    return told


def may_speak(pool: Pool, question: Question) -> bool:
    """Tell whether anything stands around: a source, or a writer who is named."""
    if any(row["source_id"] for row in pool.rows.values()):
        return True
    return bool(named_in({row["writer"] for row in pool.rows.values()}, question.text))


def place_of(record_id: str, row: Row) -> Place:
    """Return where a candidate stands."""
    source = row["source_id"]
    asks = row["text"].rstrip().endswith("?")
    return Place(
        record_id, str(source) if source else None, row["ordinal"], row["writer"], asks
    )


def composed(
    pool: Pool,
    question: Question,
    scores: dict[str, float],
    at: dt.datetime,
    best: float,
) -> Told:
    """Mix in recency and importance, where they have a weight (B118 to B126).

    What stands around makes all scores smaller beside them, as soon as anything does.
    So the best is taken for as similar as the best was before, and all others by it.

    Args:
        best: The best score before anything around it spoke.
    """
    weights = question.scoring
    if weights is None or not weights.active:
        return {}
    told = {}
    most = max(scores.values(), default=0.0) or 1.0
    for record_id, row in pool.rows.items():
        parts = {
            "similarity": best * (scores[record_id] / most),
            "recency": scoring.recency(age(row, at), weights.half_life_seconds),
            "importance": scoring.importance(row["importance"]),
        }
        scores[record_id] = scoring.composite(**parts, scoring=weights)
        told[record_id] = parts
    return told


def decayed(
    pool: Pool,
    question: Question,
    scores: dict[str, float],
    at: dt.datetime,
    strengths: Mapping[str, tuple[float, dt.datetime | None]],
) -> Told:
    """Let what is old and was seldom recalled fade, where that is asked (B377)."""
    if question.decay_days is None:
        return {}
    told = {}
    for record_id, row in pool.rows.items():
        strength, last = strengths.get(record_id, (1.0, None))
        elapsed = age(row, at) if last is None else (at - last).total_seconds()
        factor = scoring.decay(elapsed, question.decay_days, strength)
        scores[record_id] *= factor
        told[record_id] = {"decay": factor}
    return told


def trusted(
    pool: Pool,
    question: Question,
    scores: dict[str, float],
    factors: Mapping[str, float] | None,
) -> Told:
    """Discount what is not first-party, unless that is switched off (B371 to B373)."""
    if not question.trust_weighting:
        return {}
    told = {}
    known: dict[tuple[str, str], float] = {}
    for record_id, row in pool.rows.items():
        kind = (row["trust"], row["gate"])
        if kind not in known:
            gated = row["gate"] != "open"
            known[kind] = scoring.trust_factor(row["trust"], gated, factors)
        scores[record_id] *= known[kind]
        told[record_id] = {"trust": known[kind]}
    return told


def age(row: Row, at: dt.datetime) -> float:
    """Return the seconds since it happened, or else was written."""
    then = dt.datetime.fromisoformat(row["happened_at"] or row["created_at"])
    return (at - then).total_seconds()
