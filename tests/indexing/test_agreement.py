"""How far two rankings agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.indexing.agreement import agreed, correlation, overlap

LISTS = st.lists(st.integers(0, 12), unique=True, max_size=8)


@given(LISTS, LISTS)
def test_they_agree_within_bounds_and_both_ways(one: list[int], two: list[int]) -> None:
    assert 0 <= overlap(one, two) == overlap(two, one) <= 1
    rho = correlation(one, two)
    assert rho == correlation(two, one)
    assert rho is None or -1 <= rho <= 1
    assert overlap(one, one) == 1
    assert correlation(one, one) in {None, 1.0}


def test_spearman_by_hand() -> None:
    assert correlation("abc", "cba") == -1
    assert correlation("abcd", "abdc") == pytest.approx(0.8)
    assert correlation("axbycz", "qarbsc") == 1  # of a, b and c alone
    assert correlation("ab", "bx") is None


def test_the_mean_of_some_questions() -> None:
    found = agreed([("abcd", "abcd"), ("abcd", "dcxy"), ("a", "b")], top_k=4)
    assert (found.questions, found.top_k) == (3, 4)
    assert found.overlap == pytest.approx(0.5)
    assert found.correlation == pytest.approx(0.0)
    assert agreed([], top_k=4).correlation is None
