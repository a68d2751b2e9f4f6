from __future__ import annotations

import math
import random
import uuid
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid
from prism_memory.recall.fitting import Case, fit_weights
from prism_memory.recall.fusion import fuse_rrf, fuse_weighted, rrf_of

some = st.sampled_from("abcdefgh")
lists = st.lists(st.lists(some, max_size=10), max_size=4)
weights = st.floats(0, 100)
no_weights: st.SearchStrategy[Any] = st.sampled_from(
    [None, "2", True, False, -1, -0.5, math.nan, math.inf, -math.inf, 10**400, [2], {}]
)


def naive(
    lists: list[list[str]], weights: list[float], k: float
) -> list[tuple[str, float]]:
    """Rank by exact fractions, straight from the definition."""
    scores: dict[str, Fraction] = {}
    best: dict[str, int] = {}
    for record_id in {i for ids in lists for i in ids}:
        ranks = [
            (ids.index(record_id) + 1, weight)
            for ids, weight in zip(lists, weights, strict=True)
            if record_id in ids
        ]
        scores[record_id] = sum(
            (Fraction(weight / (k + rank)) for rank, weight in ranks), Fraction(0)
        )
        best[record_id] = min(rank for rank, _ in ranks)
    ranked = sorted(scores, key=lambda i: (-float(scores[i]), best[i], i))
    return [(i, float(scores[i])) for i in ranked]


def test_lists_are_fused_by_reciprocal_rank() -> None:
    """B361, B362: computed by hand."""
    assert fuse_rrf([["a", "b"], ["b", "c"]]) == [
        ("b", 1 / 62 + 1 / 61),
        ("a", 1 / 61),
        ("c", 1 / 62),
    ]
    assert fuse_rrf([["a"], ["b", "a"]], k=1) == [("a", 1 / 2 + 1 / 3), ("b", 1 / 2)]


def test_a_weight_scales_what_its_list_says() -> None:
    """B362: computed by hand."""
    assert fuse_weighted([["a", "b"], ["b"]], [3, 0.5], k=1) == [
        ("a", 3 / 2),
        ("b", 3 / 3 + 0.5 / 2),
    ]


@given(
    lists.flatmap(
        lambda found: st.tuples(
            st.just(found),
            st.lists(weights, min_size=len(found), max_size=len(found)),
        )
    ),
    st.floats(0.01, 1_000),
)
def test_fused_lists_are_as_the_definition_says(
    told: tuple[list[list[str]], list[float]], k: float
) -> None:
    """B361, B362, B364."""
    assert fuse_weighted(*told, k) == naive(*told, k)


@given(lists, st.randoms(use_true_random=False), st.data())
def test_fused_lists_do_not_depend_on_the_order_of_lists(
    found: list[list[str]], shuffler: random.Random, data: st.DataObject
) -> None:
    """B364."""
    pairs = [(ids, data.draw(weights)) for ids in found]
    shuffled = pairs.copy()
    shuffler.shuffle(shuffled)

    first = fuse_weighted([ids for ids, _ in pairs], [w for _, w in pairs])

    assert first == fuse_weighted([i for i, _ in shuffled], [w for _, w in shuffled])


@given(lists, st.lists(no_weights, max_size=6))
def test_a_weight_that_is_missing_or_none_counts_1(
    found: list[list[str]], invalid: list[Any]
) -> None:
    """B363."""
    assert fuse_weighted(found, invalid) == fuse_rrf(found)
    assert fuse_weighted(found) == fuse_weighted(found, None) == fuse_rrf(found)


@given(lists, st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0]))
def test_equal_weights_give_the_order_of_ranks_alone(
    found: list[list[str]], weight: float
) -> None:
    """B363: powers of two, so that scaling rounds nothing."""
    fused = fuse_weighted(found, [weight] * len(found))

    assert fused == [(i, score * weight) for i, score in fuse_rrf(found)]


def test_a_list_of_weight_0_adds_its_ids_at_the_end() -> None:
    assert fuse_weighted([["a"], ["b", "a"]], [1, 0]) == [("a", 1 / 61), ("b", 0.0)]


def test_a_repeated_id_counts_once_at_its_best_rank() -> None:
    assert fuse_rrf([["a", "b", "a"]]) == [("a", 1 / 61), ("b", 1 / 62)]
    assert fuse_rrf([["a", "a", "b"]]) == [("a", 1 / 61), ("b", 1 / 63)]


def test_ties_of_lists_go_by_best_rank_then_code_points() -> None:
    """B364."""
    assert [i for i, _ in fuse_rrf([["b"], ["a"], ["Z"], ["\u00e4"]])] == [
        *("Z", "a", "b", "\u00e4")
    ]
    # Twice 1 / (1 + 3), or once 1 / (1 + 1).
    fused = fuse_rrf([["x", "y", "late"], ["y", "x", "late"], ["tardy"]], k=1)
    assert fused[2:] == [("tardy", 0.5), ("late", 0.5)]


def test_nothing_fused_is_nothing() -> None:
    assert fuse_rrf([]) == fuse_rrf([[], []]) == fuse_weighted([], [1, 2]) == []


@pytest.mark.parametrize("k", [0, -1, math.inf, math.nan, True, "60", None, 10**400])
@pytest.mark.parametrize("fusion", [fuse_rrf, fuse_weighted, rrf_of])
def test_lists_are_fused_with_no_other_k_than_a_positive_one(
    fusion: Any, k: Any
) -> None:
    """B361."""
    with pytest.raises(Invalid) as raised:
        fusion({} if fusion is rrf_of else [], k=k)
    assert raised.value.field == "k"


@pytest.mark.parametrize("bad", ["ab", ["ab"], [["a"], "b"], [[1]], [[uuid.uuid4()]]])
def test_what_is_no_list_of_ids_is_refused(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        fuse_rrf(bad)
    assert raised.value.field == "lists"


def test_weights_beyond_all_bounds_are_refused_aloud() -> None:
    with pytest.raises(Invalid) as raised:
        fuse_weighted([["a"]] * 4, [1.7e308] * 4, k=1e-9)
    assert raised.value.field == "weights"


@pytest.mark.parametrize("bad", [{"vector": 0.5, "text": 1.0}, {}, {0.5, 1.0}, "21"])
def test_weights_without_the_order_of_the_lists_are_refused(bad: Any) -> None:
    """The keys of what ``fit_weights`` returns would each count 1."""
    with pytest.raises(Invalid, match="in the order of the lists") as raised:
        fuse_weighted([["a"], ["b"]], bad)
    assert raised.value.field == "weights"


def test_weights_by_leg_are_given_in_the_order_of_the_lists() -> None:
    lists = {"text": ["a"], "vector": ["b"]}
    weights = fit_weights([Case(lists, {"b"})], ["vector", "text"])

    fused = fuse_weighted([*lists.values()], [weights[leg] for leg in lists])

    assert [i for i, _ in fused] == ["b", "a"]
    assert fused[0][1] > fused[1][1]
