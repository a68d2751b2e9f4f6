"""From what the legs found to an order, against values by hand. No database."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.recall.context import with_context
from prism_memory.recall.fusion import SHARPNESS
from prism_memory.recall.question import Question
from prism_memory.recall.ranking import (
    Pool,
    Ranked,
    by_place,
    by_score,
    fused,
    place_of,
    rank,
)
from prism_memory.types import Scoring
from tests.factories import NOON

DAY = dt.timedelta(days=1)
HYBRID = ("vector", "text")


def row(**columns: Any) -> dict[str, Any]:
    """A candidate's row, found by its vector alone unless said otherwise."""
    return {
        "vector_rank": 1,
        "text_rank": None,
        "recency_rank": None,
        "cosine": 0.5,
        "bm25": None,
        "text": "Ada drinks tea.",
        "sequence": 1,
        "importance": None,
        "created_at": NOON.isoformat(),
        "happened_at": None,
        "source_id": None,
        "ordinal": None,
        "writer": "ada",
        "trust": "user",
        "gate": "open",
        **columns,
    }


def pool_of(rows: Mapping[str, Any], legs: tuple[str, ...] = HYBRID) -> Pool:
    pool = Pool()
    pool.add(rows, legs, 1)
    return pool


def ranked(rows: Mapping[str, Any], **asked: Any) -> Ranked:
    beside = {name: asked.pop(name) for name in ("strengths", "factors") & asked.keys()}
    question = Question("tea?", **{"top_k": 5, **asked})
    return rank(pool_of(rows, question.asked), question, at=NOON, **beside)


def test_equal_scores_go_by_sequence_then_id() -> None:
    """B114: a leg's own ranks, which go by id, decide nothing."""
    rows = {
        "a": row(vector_rank=1, sequence=3),
        "b": row(vector_rank=2, sequence=1),
        "d": row(vector_rank=4, sequence=2),
        "c": row(vector_rank=3, sequence=2),
    }

    assert ranked(rows, fusion="blend").ids == ["b", "c", "d", "a"]
    assert ranked(rows).ids == ["b", "c", "d", "a"]


candidates = st.fixed_dictionaries(
    {
        "cosine": st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]),
        "sequence": st.integers(1, 3),
        "importance": st.sampled_from([None, 0.0, 0.5, 1.0]),
        "trust": st.sampled_from(["user", "tool", "agent"]),
        "gate": st.sampled_from(["open", "quarantined"]),
        "age": st.integers(-2, 40),
    }
)


@given(
    st.lists(candidates, max_size=8),
    st.sampled_from([(0.0, 0.0), (0.5, 0.0), (0.25, 0.5), (1.0, 1.0), (0.0, 1.0)]),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_a_blend_is_ranked_as_a_naive_model_does(
    drawn: list[dict[str, Any]], weights: tuple[float, float], lam: float
) -> None:
    """B114, B115, B120 to B126, B371: the whole arithmetic, written again."""
    rows = {}
    for place, one in enumerate(sorted(drawn, key=lambda d: -d["cosine"]), 1):
        created = NOON - one["age"] * DAY
        columns = {**one, "vector_rank": place, "created_at": created.isoformat()}
        rows[f"id-{place:02}"] = row(**columns)
    half_life = 7 * 86_400_000
    scoring = Scoring(weights[0], weights[1], half_life)

    def score(one: Mapping[str, Any]) -> float:
        similarity = (1 - lam) * max(one["cosine"], 0.0) + lam  # holds the only word
        total = max(1.0, sum(weights))
        recency = 0.5 ** (max(one["age"], 0) / 7)
        importance = 1.0 if one["importance"] is None else one["importance"]
        mixed = (1 - sum(weights) / total) * similarity
        mixed += weights[0] / total * recency + weights[1] / total * importance
        if one["gate"] != "open":
            return float(0.3 * mixed)
        return float((1.0 if one["trust"] == "user" else 0.8) * mixed)

    found = ranked(rows, fusion="blend", blend=lam, scoring=scoring)

    assert {*found.ids} == {*rows}
    for record_id, one in rows.items():
        assert found.scores[record_id] == pytest.approx(score(one), abs=1e-12)
    places = [(-found.scores[i], rows[i]["sequence"], i) for i in found.ids]
    assert places == sorted(places)


turns = st.lists(
    st.tuples(
        st.sampled_from([None, -0.2, 0.1, 0.3, 0.9]),
        st.sampled_from([None, 0.5, 1.0, 2.0]),
        st.integers(1, 3),
        st.sampled_from([None, "s1", "s2"]),
        st.sampled_from(["ada", "tea"]),  # the question names the second
    ),
    min_size=1,
    max_size=10,
)


def turn_rows(drawn: list[Any]) -> dict[str, Any]:
    return {
        f"id-{place:02}": row(
            cosine=cosine,
            vector_rank=None if cosine is None else place,
            bm25=bm25,
            text_rank=None if bm25 is None else place,
            sequence=sequence,
            source_id=source,
            ordinal=place if source else None,
            writer=writer,
        )
        for place, (cosine, bm25, sequence, source, writer) in enumerate(drawn, 1)
    }


@given(turns, st.sampled_from(["convex", "rrf"]))
def test_without_a_scoring_the_order_is_that_of_the_context(
    drawn: list[Any], fusion: str
) -> None:
    rows = turn_rows(drawn)
    question = Question("tea?", 5, fusion=fusion)
    pool = pool_of(rows, question.asked)
    told = with_context(
        fused(pool, question), [place_of(i, one) for i, one in rows.items()], "tea?"
    )

    found = rank(pool, question, at=NOON)

    assert found.scores == told
    assert found.ids == sorted(rows, key=lambda i: (-told[i], rows[i]["sequence"], i))


@given(turns, st.sampled_from(["convex", "rrf"]))
def test_a_scoring_meets_the_best_as_it_was_before_anything_stood_around(
    drawn: list[Any], fusion: str
) -> None:
    """B120: what a weight says does not hang on whether some record has a source."""
    rows = turn_rows(drawn)
    plain = ranked(rows, fusion=fusion)
    lone = ranked(rows, fusion=fusion, context=False)

    told = ranked(rows, fusion=fusion, scoring=Scoring(importance_weight=0.1))

    similar = {i: told.signals[i]["similarity"] for i in rows}
    assert max(similar.values()) == pytest.approx(max(lone.scores.values()))
    most = max(plain.scores.values()) or 1.0
    for record_id, score in plain.scores.items():
        assert similar[record_id] == pytest.approx(
            score / most * max(lone.scores.values())
        )


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, -0.2, 0.1, 0.9]),
            st.sampled_from([None, 0.5, 2.0]),
            st.integers(1, 3),
            st.sampled_from([None, "s1", "s2"]),
        ),
        max_size=8,
    ),
    st.sampled_from(["convex", "rrf", "blend"]),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_rows_does_not_matter(
    drawn: list[Any], fusion: str, random: Any
) -> None:
    """B364: and each score is in 0..1, each candidate in the order once."""
    rows = {}
    for place, (cosine, bm25, sequence, source) in enumerate(drawn, 1):
        rows[f"id-{place}"] = row(
            cosine=cosine,
            vector_rank=None if cosine is None else place,
            bm25=bm25,
            text_rank=None if bm25 is None else place,
            sequence=sequence,
            source_id=source,
            ordinal=place if source else None,
        )
    shuffled = [*rows.items()]
    random.shuffle(shuffled)

    found, again = ranked(rows, fusion=fusion), ranked(dict(shuffled), fusion=fusion)

    assert (found.ids, found.scores) == (again.ids, again.scores)
    assert sorted(found.ids) == sorted(rows)
    assert all(0 <= score <= 1 for score in found.scores.values())
    in_order = [found.scores[i] for i in found.ids]
    assert in_order == sorted(in_order, reverse=True)


def test_a_rank_fused_score_is_relative_to_the_first_of_each_leg() -> None:
    """B361, with k and weights of one's own."""
    rows = {
        "a": row(vector_rank=1, text_rank=2, bm25=1.0),
        "b": row(vector_rank=2, text_rank=1, bm25=2.0),
        "c": row(vector_rank=3),
    }
    asked = {"fusion": "rrf", "context": False}

    plain = ranked(rows, **asked)
    assert plain.scores["a"] == pytest.approx((1 + 61 / 62) / 2)
    assert plain.scores["c"] == pytest.approx(61 / 63 / 2)

    told = ranked(rows, **asked, rrf_k=1, weights={"text": 3})
    assert told.ids == ["b", "a", "c"]
    assert told.scores["a"] == pytest.approx((1 + 3 * 2 / 3) / 4)
    assert told.scores["b"] == pytest.approx((2 / 3 + 3) / 4)


def test_a_mixed_score_takes_each_leg_relative_to_its_own() -> None:
    """The default, by hand: cosines between worst and best, words over the best."""
    rows = {
        "a": row(cosine=0.9, vector_rank=1, text_rank=None, bm25=None),
        "b": row(cosine=0.5, vector_rank=2, text_rank=2, bm25=1.0),
        "c": row(cosine=0.1, vector_rank=3, text_rank=1, bm25=4.0),
    }

    found = ranked(rows, weights={"vector": 3, "text": 1})

    assert found.scores["a"] == pytest.approx(3 / 4)
    near, words = 0.5 ** SHARPNESS["vector"], 0.25 ** SHARPNESS["text"]
    assert found.scores["b"] == pytest.approx((3 * near + words) / 4)
    assert found.scores["c"] == pytest.approx(1 / 4)


def test_legs_without_scores_are_scored_by_place() -> None:
    assert by_place({"a": 1, "b": 2, "c": 4, "d": 3}) == {
        "a": 1,
        "b": 0.75,
        "c": 0.25,
        "d": 0.5,
    }


def test_what_only_stands_beside_is_not_below_what_was_found() -> None:
    rows = {
        "found": row(cosine=0.4),
        "beside": row(cosine=-0.3, vector_rank=None),
        "bare": row(cosine=None, vector_rank=None),
    }

    assert by_score(rows, "cosine") == {"found": 0.4, "beside": 0.4}


def test_a_variant_has_legs_of_its_own_and_the_question_keeps_its_rows() -> None:
    """B378."""
    pool = pool_of({"a": row(cosine=0.9)})
    pool.add({"a": row(cosine=0.2, vector_rank=2), "b": row(cosine=0.7)}, HYBRID, 2)

    assert pool.ranks["vector.2"] == {"a": 2, "b": 1}
    assert pool.rows["a"]["cosine"] == 0.9
    question = Question("tea?", 5, fusion="rrf", weights={"text": 0})
    found = rank(pool, question, at=NOON)
    assert found.scores["a"] == pytest.approx((1 + 61 / 62) / 2)
    assert found.scores["b"] == pytest.approx(1 / 2)


def test_without_scoring_there_are_no_components() -> None:
    """B122: nor with weights of 0."""
    for scoring in (None, Scoring(), Scoring(half_life_ms=1)):
        found = ranked({"a": row()}, scoring=scoring)
        assert found.signals == {"a": {"fused": 1.0, "trust": 1.0}}


def test_the_components_are_told() -> None:
    """B123, B124, B126: by hand."""
    rows = {
        "old": row(cosine=0.6, importance=0.25, happened_at="2025-12-31 12:00:00+00"),
        "new": row(cosine=0.6, importance=math.nan, created_at="2026-02-01 00:00+01"),
    }
    scoring = Scoring(0.25, 0.25, half_life_ms=86_400_000)

    found = ranked(rows, fusion="blend", blend=0, scoring=scoring)

    old, new = found.signals["old"], found.signals["new"]
    assert (old["similarity"], old["recency"], old["importance"]) == (0.6, 0.5, 0.25)
    assert found.scores["old"] == pytest.approx(0.3 + 0.125 + 0.0625)
    assert (new["recency"], new["importance"]) == (1.0, 1.0)
    assert found.scores["new"] == pytest.approx(0.3 + 0.25 + 0.25)


def test_age_is_that_of_the_event_and_else_of_the_writing() -> None:
    rows = {
        "told": row(created_at=NOON.isoformat(), happened_at="2025-12-30 12:00+00"),
        "written": row(created_at="2025-12-31 12:00+00"),
    }

    found = ranked(rows, scoring=Scoring(1, half_life_ms=86_400_000))

    assert found.signals["told"]["recency"] == pytest.approx(0.25)
    assert found.signals["written"]["recency"] == pytest.approx(0.5)


def test_decay_counts_from_the_last_recall_and_is_slower_for_the_strong() -> None:
    """B377."""
    old = (NOON - 10 * DAY).isoformat()
    rows = {name: row(created_at=old) for name in ("never", "weak", "strong")}
    strengths = {
        "weak": (0.1, NOON - 10 * DAY),
        "strong": (2.0, NOON - 4 * DAY),
    }

    found = ranked(rows, decay_days=5, strengths=strengths, fusion="blend", blend=0)

    decays = {name: told["decay"] for name, told in found.signals.items()}
    assert decays["never"] == pytest.approx(math.exp(-10 / 5))
    assert decays["weak"] == pytest.approx(math.exp(-10 / 2.5))
    assert decays["strong"] == pytest.approx(math.exp(-4 / 10))
    assert found.ids == ["strong", "never", "weak"]
    assert found.scores["never"] == pytest.approx(0.5 * decays["never"])


def test_trust_is_discounted_last_unless_that_is_off() -> None:
    """B371, B373: of what scoring made of it; quarantine wins."""
    rows = {
        "mine": row(cosine=0.5),
        "theirs": row(cosine=0.6, trust="document"),
        "held": row(cosine=0.9, trust="tool", gate="quarantined"),
    }
    asked = {"fusion": "blend", "blend": 0}

    found = ranked(rows, **asked)
    assert found.ids == ["mine", "theirs", "held"]
    assert found.scores == pytest.approx({"mine": 0.5, "theirs": 0.48, "held": 0.27})

    found = ranked(rows, **asked, factors={"document": 1.0, "quarantined": 0.0})
    assert found.scores == pytest.approx({"mine": 0.5, "theirs": 0.6, "held": 0})

    found = ranked(rows, **asked, trust_weighting=False)
    assert found.ids == ["held", "theirs", "mine"]
    assert all("trust" not in told for told in found.signals.values())


def test_nothing_found_is_nothing_ranked() -> None:
    assert ranked({}) == Ranked([], {}, {})
