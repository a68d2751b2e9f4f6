from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.recall.context import (
    AFTER,
    AROUND,
    ASKING_COUNTS,
    ASKING_GIVES,
    BEFORE,
    SOURCE_SHARE,
    WRITER_SHARE,
    Place,
    named_in,
    with_context,
)

names = st.sampled_from(["a", "b", "c", "d", "e", "f"])
places = st.lists(
    st.builds(
        Place,
        record_id=names,
        source=st.sampled_from([None, "s", "t"]),
        ordinal=st.one_of(st.none(), st.integers(0, 5)),
        writer=st.sampled_from(["ada", "bob", "c.d"]),
        asks=st.booleans(),
    ),
    unique_by=lambda place: place.record_id,
)
scores = st.fixed_dictionaries({name: st.floats(0, 1) for name in "abcdef"})


def turn(record_id: str, ordinal: int | None, source: str | None = "s") -> Place:
    return Place(record_id, source, ordinal, "ada")


def test_without_a_source_nothing_changes() -> None:
    found = with_context(
        {"a": 1, "b": 0.5}, [turn("a", None, None), turn("b", 3, None)], ""
    )

    assert found == {"a": 1, "b": 0.5}


def test_a_turn_speaks_for_those_around_it() -> None:
    told = with_context(
        {"m": 1, "a1": 0, "a2": 0, "b1": 0, "b2": 0, "far": 0},
        [
            turn("b2", 3),
            turn("b1", 4),
            turn("m", 5),
            turn("a1", 6),
            turn("a2", 7),
            turn("far", 8),
        ],
        "",
    )
    base = told["far"]

    for distance in (1, 2):
        given = AFTER.get(distance, 0), BEFORE.get(distance, 0)
        found = told[f"a{distance}"] - base, told[f"b{distance}"] - base
        assert found == pytest.approx([share / AROUND for share in given])


def test_a_question_gives_more_to_what_answers_it_and_counts_less_itself() -> None:
    def told(*, asks: bool) -> dict[str, float]:
        said = Place("q", "s", 1, "ada", asks)
        others = [turn("before", 0), turn("answer", 2), turn("far", 9)]
        return with_context(
            {"q": 1, "before": 0, "answer": 0, "far": 0}, [said, *others], ""
        )

    plain, asked = told(asks=False), told(asks=True)

    gained = AFTER[1] * (ASKING_GIVES - 1)
    assert asked["answer"] - plain["answer"] == pytest.approx(gained / AROUND)
    assert plain["q"] - asked["q"] == pytest.approx((1 - ASKING_COUNTS) / AROUND)
    assert (asked["before"], asked["far"]) == (plain["before"], plain["far"])


def test_a_turn_of_another_source_is_no_neighbour() -> None:
    told = with_context({"m": 1, "x": 0}, [turn("m", 1), turn("x", 2, "t")], "")

    assert told["x"] == 0


def test_a_source_gives_its_records_the_mean_of_its_best_two() -> None:
    told = with_context(
        {"a": 1, "b": 0.5, "c": 0.2}, [turn("a", 0), turn("b", 10), turn("c", 20)], ""
    )

    assert told["c"] == pytest.approx((0.2 + SOURCE_SHARE * 0.75) / AROUND)


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("What does Ada drink?", True),
        ("what of ADA's tea", True),
        ("ada", True),
        ("a canada day", False),
        ("nobody", False),
        ("", False),
    ],
)
def test_what_somebody_named_wrote_is_lifted(question: str, *, named: bool) -> None:
    other = Place("b", None, None, "bob")
    told = with_context({"a": 0.5, "b": 1.0}, [turn("a", None, None), other], question)

    most = 1 + WRITER_SHARE
    lifted = {"a": (0.5 + WRITER_SHARE) / most, "b": 1 / most}
    assert told == (pytest.approx(lifted) if named else {"a": 0.5, "b": 1})


def test_a_writers_name_is_no_pattern() -> None:
    odd = Place("a", None, None, "c.d(")

    other = Place("b", None, None, "bob")
    scores = {"a": 0.5, "b": 1}

    assert with_context(scores, [odd, other], "cxd( and c.d( too")["b"] < 1
    assert with_context(scores, [odd, other], "cxd(") == scores


@pytest.mark.parametrize(
    ("writer", "question", "named"),
    [
        ("Will", "Where will she live?", False),
        ("Will", "Where does Will live?", True),
        ("where", "Where will she live?", False),
        ("WHO", "who is it", False),
        ("I", "What do i drink?", False),
        ("i", "\u0130s it her?", False),  # a dotted capital I
        ("\u0130pek", "what of i\u0307pek?", True),
        ("I", "\u0130 said", False),
        ("Stra\u00dfe", "STRASSE 7", True),
        ("ada", "ada_bot", False),
        ("ada", "ada2", False),
        ("ada", "the \u00e0da", False),
        ("ada", "(Ada)", True),
        ("Ada", "Canada, and ADA", True),
        ("Ben Smith", "what did ben smith say", True),
        ("", "a question", False),
    ],
)
def test_a_name_counts_as_pythons_rules_of_case_say_and_not_within_a_word(
    writer: str, question: str, *, named: bool
) -> None:
    """One that is an ordinary word, only as it is written."""
    assert (named_in({writer}, question) == {writer}) is named


@given(places, scores, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    found: list[Place], told: dict[str, float], shuffler: random.Random
) -> None:
    """B364."""
    shuffled = found.copy()
    shuffler.shuffle(shuffled)

    assert with_context(told, found, "ada") == with_context(told, shuffled, "ada")


@given(places, scores)
def test_a_score_stays_between_0_and_1(
    found: list[Place], told: dict[str, float]
) -> None:
    """B62."""
    context = with_context(told, found, "ada c.d")

    assert set(context) == {place.record_id for place in found}
    assert all(0 <= score <= 1 for score in context.values())
