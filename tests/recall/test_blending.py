from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid
from prism_memory.recall.blending import BLEND, blend, coverage

some = st.sampled_from("abc")


def test_words_have_a_fifth_of_the_blend() -> None:
    """B115: computed by hand."""
    found = blend({"a": 0.5, "b": -0.5}, {"a": 1.0, "b": 0.5, "c": 1.0})

    assert found == pytest.approx({"a": 0.6, "b": 0.1, "c": 0.2})


@pytest.mark.parametrize(
    ("lam", "score"), [(0, 0.25), (1, 0.75), (0.5, 0.5), (BLEND, 0.35)]
)
def test_the_share_of_the_words_can_be_set(lam: float, score: float) -> None:
    """B115: 0 is similarity alone."""
    assert blend({"a": 0.25}, {"a": 0.75}, lam) == {"a": pytest.approx(score)}


def test_what_is_no_number_counts_0() -> None:
    cosines = {"a": math.nan, "b": math.inf, "c": 1.0000001}
    assert blend(cosines, {}, 0) == {"a": 0.0, "b": 0.0, "c": 1.0}


@given(
    st.dictionaries(some, st.floats(-1, 1)),
    st.dictionaries(some, st.floats(0, 1)),
    st.floats(0, 1),
)
def test_a_blend_lies_between_0_and_1(
    cosines: dict[str, float], covered: dict[str, float], lam: float
) -> None:
    found = blend(cosines, covered, lam)

    assert set(found) == set(cosines) | set(covered)
    assert all(0 <= score <= 1 for score in found.values())


@pytest.mark.parametrize("lam", [-0.1, 1.1, math.nan, math.inf, True, "0.2", None])
def test_another_share_of_the_words_is_refused(lam: Any) -> None:
    with pytest.raises(Invalid) as raised:
        blend({}, {}, lam)
    assert raised.value.field == "lam"


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("green tea", "Tea, please: GREEN tea.", 1.0),
        ("green tea", "black tea", 1 / 2),
        ("tea tea tea cups", "tea", 1 / 2),
        ("the 2nd room", "room 22 of the 2nd floor", 1.0),
        ("a b c", "a b c", 0.0),
        ("a tea", "tea", 1.0),
        ("tea", "teapot steam", 0.0),
        ("don't", "don t do it", 1.0),
        ("", "tea", 0.0),
        ("tea", "", 0.0),
        ("緑茶", "緑茶", 0.0),
        ("?!", "?!", 0.0),
    ],
)
def test_coverage_is_the_share_of_distinct_terms_found(
    query: str, text: str, share: float
) -> None:
    """B115, B130: a query without a term covers nothing."""
    assert coverage(query, text) == share


@given(st.text(), st.text())
def test_coverage_lies_between_0_and_1(query: str, text: str) -> None:
    assert 0 <= coverage(query, text) <= 1
    assert coverage(query, query + " " + text) in (0.0, 1.0)
