"""What is asked is checked before anything is done."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.errors import Invalid
from prism_memory.recall.question import LEGS, WEIGHTS, Question, legs_of
from prism_memory.types import Scoring


def question(**asked: Any) -> Question:
    return Question("tea?", **{"top_k": 5, **asked})


@pytest.mark.parametrize(
    ("given", "legs"),
    [
        ("hybrid", ("vector", "text")),
        ("text", ("text",)),
        (["text", "vector"], ("vector", "text")),
        ({"recency", "text"}, ("text", "recency")),
        (("text", "text"), ("text",)),
        (LEGS, LEGS),
    ],
)
def test_legs_are_asked_in_one_order_each_once(given: Any, legs: Any) -> None:
    assert legs_of(given) == legs


@pytest.mark.parametrize(
    "bad", ["both", "", [], None, 1, ["hybrid"], ["text", 1], [["text"]], b"text"]
)
def test_legs_that_are_not_there_are_refused(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        question(legs=bad)
    assert raised.value.field == "legs"


@pytest.mark.parametrize(
    ("top_k", "rows"), [(0, 16), (5, 16), (6, 64), (10, 64), (11, 128), (32, 128)]
)
def test_more_candidates_are_asked_for_than_are_shown(top_k: int, rows: int) -> None:
    """B125, B367: at least four times as many where they are ordered anew."""
    assert question(top_k=top_k).candidate_rows == rows
    for reordered in (
        {"scoring": Scoring(importance_weight=0.5)},
        {"diversity": 0.5},
        {"decay_days": 3},
    ):
        assert question(top_k=top_k, **reordered).candidate_rows >= 4 * top_k


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        ({}, True),
        ({"fusion": "rrf"}, True),
        ({"fusion": "blend"}, False),
        ({"legs": "vector"}, False),
        ({"legs": "recency"}, False),
        ({"legs": "text"}, True),
        ({"context": False}, False),
        ({"fusion": "blend", "context": True}, True),
        ({"legs": "vector", "context": True}, True),
    ],
)
def test_what_stands_around_speaks_unless_the_ranking_is_another(
    asked: dict[str, Any], used: bool
) -> None:
    assert question(**asked).uses_context is used


def test_a_leg_without_a_weight_counts_1() -> None:
    """B363."""
    weights = {"text": 3.0, "recency": 9.0}

    measured = {leg: WEIGHTS[leg] for leg in ("vector", "text")}

    assert question().weight_of == measured
    assert question(fusion="rrf").weight_of == {"vector": 1.0, "text": 1.0}
    assert question(weights={}).weight_of == {"vector": 1.0, "text": 1.0}
    assert question(weights=weights).weight_of == {"vector": 1.0, "text": 3.0}


@pytest.mark.parametrize(
    ("asked", "varied"),
    [
        ({}, False),
        ({"multi_query": 1}, False),
        ({"multi_query": 2}, True),
        ({"hyde": True}, True),
        ({"hyde": True, "legs": "vector"}, True),
        ({"multi_query": 2, "legs": ["recency", "text"]}, True),
        ({"multi_query": 2, "hyde": True, "legs": "recency"}, False),
    ],
)
def test_a_transformer_has_something_to_do_only_if_asked(
    asked: dict[str, Any], varied: bool
) -> None:
    """B378, B379."""
    assert question(**asked).is_varied is varied


@pytest.mark.parametrize("legs", ["recency", ["recency"]])
def test_nothing_is_blended_where_no_leg_reads_the_question(legs: Any) -> None:
    """It would be an order by nothing, told as if by a score."""
    with pytest.raises(Invalid, match="blend") as raised:
        question(fusion="blend", legs=legs)
    assert raised.value.field == "fusion"


@pytest.mark.parametrize("legs", ["hybrid", "vector", "text", ["text", "recency"]])
def test_either_leg_that_reads_the_question_can_be_blended(legs: Any) -> None:
    """B115."""
    assert question(fusion="blend", legs=legs).fusion == "blend"
