from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid
from prism_memory.recall.difficulty import HARD, WEIGHTS, difficulty


@pytest.mark.parametrize(
    ("question", "signals"),
    [
        ("Where does Ada live?", ()),
        ("favourite tea", ()),
        ("", ()),
        ("Who is Ada?", ("multi_hop",)),
        ("Whose dog is it?", ("multi_hop",)),
        ("Which dog is it?", ("multi_hop",)),
        ("Where is the sister of Ada?", ("multi_hop",)),
        ("Where does the person she met live?", ("multi_hop",)),
        ("Where is Ada's sister's dog?", ("multi_hop",)),
        ("Where are my parents' friends' dogs?", ("multi_hop",)),
        ("Where is Ada’s sister’s dog?", ("multi_hop",)),  # noqa: RUF001 - as typed
        ("Where is Ada's dog?", ()),
        ("What's Ada's dog called?", ()),
        ("Is Theodore the whole of it?", ("multi_hop",)),
        ("Does the whosoever know?", ()),
        ("What did Ada do before?", ("temporal",)),
        ("WHAT DID ADA DO LAST?", ("temporal",)),
        ("What did Ada used  to play?", ("temporal",)),
        ("What is blasting?", ()),
        ("Is tea better?", ("comparison",)),
        ("Does Ada like tea most?", ("comparison",)),
        ("Is there at least a dog?", ()),
        ("Is it almost done?", ()),
        ("Does Ada like tea, milk, or water?", ("multi_clause",)),
        ("Does Ada sing and dance and paint?", ("multi_clause",)),
        ("Does Ada sing and dance?", ()),
        ("Does Ada sing? Does Bob?", ("multi_clause",)),
        ("Does Ada sing???", ()),
        ("Did 1,000,000 dogs bark?", ()),
        ("one two three four five six seven eight nine ten eleven", ()),
        ("one two three four five six seven eight nine ten eleven 12", ("long",)),
        ("one two three four five six seven eight nine ten eleven - !", ()),
    ],
)
def test_a_signal_is_told_by_the_words(question: str, signals: tuple[str, ...]) -> None:
    """B400."""
    assert difficulty(question).signals == signals


@pytest.mark.parametrize(
    ("question", "score", "hard"),
    [
        ("Where does Ada live?", 0, False),
        ("Who is Ada?", 0.4, False),
        ("When did Ada sing and dance and paint?", 0.5, True),
        ("Who sang first?", 0.7, True),
        ("Who did Ada sing with in the large hall on that cold evening?", 0.55, True),
        ("What did Ada sing in the large hall on that very cold evening?", 0.15, False),
        ("Is the first tea better?", 0.6, True),
        (
            "Who sang better, danced first, or painted most in the hall of the town?",
            1.0,
            True,
        ),
    ],
)
def test_signals_add_up_to_at_most_1(question: str, score: float, hard: bool) -> None:
    """B399, B400: hard from 0.5 on."""
    found = difficulty(question)

    assert found.score == pytest.approx(score)
    assert found.hard is hard


def test_the_weights_are_those_of_the_field() -> None:
    """B400, B401."""
    assert [*WEIGHTS.items()] == [
        ("multi_hop", 0.4),
        ("temporal", 0.3),
        ("comparison", 0.3),
        ("multi_clause", 0.2),
        ("long", 0.15),
    ]
    assert HARD == 0.5


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_a_score_is_that_of_its_signals(question: str) -> None:
    found = difficulty(question)

    assert 0 <= found.score <= 1
    assert {*found.signals} <= {*WEIGHTS}
    assert found.score == pytest.approx(min(1, sum(WEIGHTS[s] for s in found.signals)))
    assert difficulty(f"  {question}\n").signals == found.signals


@pytest.mark.parametrize(
    "filler", ["!", "a", "the ", "s'", "a's ", ",", "? ", "\u200b"]
)
def test_a_question_of_one_thing_over_and_over_is_read_in_one_go(filler: str) -> None:
    """Its length is bounded elsewhere; backtracking would take hours at this one."""
    assert difficulty(filler * 200_000).score <= 1


@pytest.mark.parametrize("bad", [None, 7, b"who", ["who"], "who\0"])
def test_what_is_no_text_is_refused(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        difficulty(bad)
    assert raised.value.field == "question"
