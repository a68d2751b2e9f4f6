"""The names that a question may hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prism_memory.recall.named import names_in
from prism_memory.types.naming import fold


def test_the_question_its_words_and_their_pairs_are_names() -> None:
    """B397."""
    assert names_in("Is R2-D2 Ada Lovelace's?") == [
        "is r2-d2 ada lovelace's",
        "is r2-d2",
        "r2-d2 ada",
        "ada lovelace's",
        "r2-d2",
        "ada",
        "lovelace's",
        "is r2",
        "r2 d2",
        "d2 ada",
        "ada lovelace",
        "lovelace s",
        "lovelace",
    ]


def test_a_question_that_is_a_name_may_be_short() -> None:
    """B397: only what is within it must be longer than two characters."""
    assert names_in("Al") == ["al"]
    assert names_in("?!") == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_all_are_folded_and_each_is_there_once(question: str) -> None:
    found = names_in(question)
    assert found == list(dict.fromkeys(found))
    assert all(name and fold(name) == name for name in found)
