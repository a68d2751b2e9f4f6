from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.recall.diversity import mmr

IDS = "abcdef"
unit = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
scores = st.fixed_dictionaries(dict.fromkeys(IDS, unit))
pairs = [(x, y) for x in IDS for y in IDS if x < y]
likeness = st.fixed_dictionaries(dict.fromkeys(pairs, unit))


def of(told: dict[tuple[str, str], float]) -> Any:
    return lambda x, y: told[min(x, y), max(x, y)]


def never(x: str, y: str) -> float:
    raise AssertionError((x, y))


def naive(ids: str, scores: Any, similar: Any, trade_off: float, top_k: int) -> Any:
    """Look at everything anew for each place."""
    chosen: list[str] = []
    while len(chosen) < min(top_k, len(ids)):
        best = min(
            (i for i in ids if i not in chosen),
            key=lambda i: (
                -(
                    trade_off * scores[i]
                    - (1 - trade_off) * max((similar(i, c) for c in chosen), default=0)
                ),
                -scores[i],
                ids.index(i),
            ),
        )
        chosen.append(best)
    return chosen


def test_a_record_that_repeats_another_comes_later() -> None:
    """By hand: b is 0.9 like a, so 0.5 * 0.8 - 0.5 * 0.9 is less than c's 0.25."""
    similar = of({("a", "b"): 0.9, ("a", "c"): 0.0, ("b", "c"): 0.0})
    told = {"a": 1.0, "b": 0.8, "c": 0.5}

    assert mmr("abc", told, similar, 0.5, 3) == ["a", "c", "b"]
    assert mmr("abc", told, similar, 0.5, 2) == ["a", "c"]
    assert mmr("abc", told, similar, 0.9, 3) == ["a", "b", "c"]


@given(st.permutations(IDS), scores, likeness, unit, st.integers(0, 8))
def test_the_choice_is_as_the_definition_says(
    ids: list[str],
    told: dict[str, float],
    similar: dict[tuple[str, str], float],
    trade_off: float,
    top_k: int,
) -> None:
    given_ids = "".join(ids)
    found = mmr(ids, told, of(similar), trade_off, top_k)
    assert found == naive(given_ids, told, of(similar), trade_off, top_k)


@given(st.permutations(IDS), scores, st.integers(0, 8))
def test_a_trade_off_of_1_is_the_order_by_score(
    ids: list[str], told: dict[str, float], top_k: int
) -> None:
    """Ties keep the order given, and nothing is compared."""
    found = mmr(ids, told, never, 1, top_k)
    assert found == sorted(ids, key=lambda i: -told[i])[:top_k]


def test_a_trade_off_of_0_begins_with_the_best() -> None:
    similar = of({("a", "b"): 0.0, ("a", "c"): 0.5, ("b", "c"): 0.2})
    told = {"a": 0.1, "b": 0.1, "c": 0.9}
    assert mmr("abc", told, similar, 0, 3) == ["c", "b", "a"]


def test_each_pair_is_compared_at_most_once_and_only_if_needed() -> None:
    seen: list[tuple[str, str]] = []

    def similar(x: str, y: str) -> float:
        seen.append((min(x, y), max(x, y)))
        return 0.0

    assert mmr("abcd", dict.fromkeys("abcd", 1.0), similar, 0.5, 2) == ["a", "b"]
    assert sorted(seen) == [("a", "b"), ("a", "c"), ("a", "d")]


def test_what_is_opposite_is_newer_than_what_is_unlike() -> None:
    similar = of({("a", "b"): 0.0, ("a", "c"): -1.0, ("b", "c"): 0.0})
    told = {"a": 1.0, "b": 0.5, "c": 0.5}
    assert mmr("abc", told, similar, 0.5, 3) == ["a", "c", "b"]


def test_a_repeated_id_counts_once() -> None:
    assert mmr(["b", "a", "b"], {"a": 1, "b": 1}, never, 1, 5) == ["b", "a"]


def test_nothing_to_choose_from_is_nothing() -> None:
    assert mmr([], {}, never, 0.5, 5) == []
    assert mmr("abc", dict.fromkeys("abc", 1.0), never, 0.5, 0) == []
    assert mmr("abc", dict.fromkeys("abc", 1.0), never, 0.5, 1) == ["a"]


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, True, "1", None])
def test_another_trade_off_is_refused(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        mmr("a", {"a": 1}, never, bad, 5)
    assert raised.value.field == "trade_off"


@pytest.mark.parametrize("bad", [-1, 1.0, True, "1", None])
def test_a_number_that_is_no_count_is_refused(bad: Any) -> None:
    with pytest.raises(LimitExceeded) as raised:
        mmr("a", {"a": 1}, never, 0.5, bad)
    assert raised.value.field == "top_k"


def test_an_id_without_a_score_is_refused() -> None:
    with pytest.raises(Invalid, match="2 of the ids") as raised:
        mmr("abc", {"a": 1}, never, 0.5, 5)
    assert raised.value.field == "scores"
