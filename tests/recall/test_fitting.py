from __future__ import annotations

import itertools
import math
import random
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.recall.fitting import GRID, GRID_POINTS, Case, fit_weights, ndcg
from prism_memory.recall.fusion import fuse_weighted
from tests.tries import examples

some = st.sampled_from("abcdefgh")
ids = st.lists(some, max_size=6, unique=True)
cases = st.lists(
    st.builds(
        Case,
        lists=st.fixed_dictionaries({"text": ids, "vector": ids}),
        relevant=st.sets(some, max_size=3),
    ),
    max_size=4,
)


def mean(found: list[Case], weights: Any) -> float:
    """Return the mean nDCG@10 of the weights, straight from its definition."""
    scores = []
    for case in found:
        legs = [*case.lists]
        fused = fuse_weighted([case.lists[i] for i in legs], [weights[i] for i in legs])
        scores.append(ndcg([i for i, _ in fused], case.relevant))
    return sum(scores) / len(scores) if scores else 0.0


# The measure.


@pytest.mark.parametrize(
    ("ranked", "relevant", "score"),
    [
        ("abc", "a", 1),
        ("bac", "a", 1 / math.log2(3)),
        ("abc", "ac", (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        ("abc", "abc", 1),
        ("abc", "x", 0),
        ("", "a", 0),
        ("abc", "", 0),
        ("bba", "ba", (1 + 1 / 2) / (1 + 1 / math.log2(3))),
    ],
)
def test_the_gain_of_a_rank_falls_with_its_logarithm(
    ranked: str, relevant: str, score: float
) -> None:
    """B386: computed by hand."""
    assert ndcg([*ranked], {*relevant}) == pytest.approx(score)


def test_what_stands_below_the_depth_does_not_count() -> None:
    ranked = [str(n) for n in range(1, 13)]
    assert ndcg(ranked, {"11"}) == 0
    assert ndcg(ranked, {"10"}) == pytest.approx(1 / math.log2(11))
    assert ndcg(ranked, {"2"}, k=1) == 0
    assert ndcg(ranked[:10], {*ranked}) == 1


@given(ids, st.sets(some), st.integers(1, 10))
def test_a_gain_lies_between_0_and_1(
    ranked: list[str], relevant: set[str], k: int
) -> None:
    assert 0 <= ndcg(ranked, relevant, k) <= 1


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, None])
def test_a_depth_that_is_no_count_is_refused(bad: Any) -> None:
    with pytest.raises(LimitExceeded):
        ndcg(["a"], {"a"}, bad)


# The fit: B386.


def test_the_leg_that_is_right_gets_the_larger_weight() -> None:
    """B386."""
    found = [
        Case({"vector": [f"z{n}", f"a{n}"], "text": [f"a{n}", f"z{n}"]}, {f"z{n}"})
        for n in range(3)
    ]

    weights = fit_weights(found, ["vector", "text"])

    # Of all that are as good, those nearest to 1.
    assert weights == {"vector": 1, "text": 0.5}
    assert mean(found, weights) == 1


def test_weights_are_1_where_the_id_settles_a_tie_as_it_should() -> None:
    """By chance; other weights do as well, and no better."""
    found = [Case({"vector": ["a", "b"], "text": ["b", "a"]}, {"a"})]
    assert fit_weights(found, ["vector", "text"]) == {"vector": 1, "text": 1}


def test_weights_are_1_where_tuning_gains_nothing() -> None:
    """B386."""
    both = Case({"vector": ["a", "b"], "text": ["a", "c"]}, {"a"})
    none = Case({"vector": ["a"], "text": ["b"]}, {"x"})
    unit = {"vector": 1.0, "text": 1.0}

    assert fit_weights([both], ["vector", "text"]) == unit
    assert fit_weights([none], ["vector", "text"]) == unit
    assert fit_weights([], ["vector", "text"]) == unit
    assert fit_weights([both, none], ["text", "vector"], [0.5, 3]) == unit


def test_a_gain_that_is_only_rounding_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """B386."""
    gains = iter([0.5, 0.5, *itertools.repeat(0.5 + 9e-10, 99)])
    monkeypatch.setattr(
        "prism_memory.recall.fitting._mean_ndcg", lambda *_: next(gains)
    )
    assert fit_weights([], ["vector", "text"]) == {"vector": 1, "text": 1}


@settings(max_examples=examples(40))
@given(cases)
def test_no_weights_of_the_grid_do_better(found: list[Case]) -> None:
    """B386: against every point of the grid, and against RRF."""
    legs = ["text", "vector"]
    fitted = fit_weights(found, legs, [0, 0.5, 1, 2])
    unit = dict.fromkeys(legs, 1.0)
    points = [
        dict(zip(legs, p, strict=True))
        for p in itertools.product([0.5, 1, 2, 0], repeat=2)
    ]
    best = max(mean(found, p) for p in points if any(p.values()))

    assert mean(found, fitted) >= best - 2e-9
    if mean(found, fitted) <= mean(found, unit):
        assert fitted == unit


@settings(max_examples=examples(40))
@given(cases, st.randoms(use_true_random=False))
def test_a_fit_does_not_depend_on_any_order(
    found: list[Case], shuffler: random.Random
) -> None:
    shuffled = found.copy()
    shuffler.shuffle(shuffled)
    first = fit_weights(found, ["text", "vector"], [0.5, 1, 2])

    assert first == fit_weights(shuffled, ["vector", "text"], [2, 1, 0.5, 1])


def test_of_equally_good_weights_the_names_of_the_legs_choose() -> None:
    """Without one of two legs the other two tie, and the id settles it as it should."""
    wrong, right = ["z", "a"], ["a", "z"]
    found = [Case({"one": wrong, "two": wrong, "three": right}, {"a"})]

    for legs in itertools.permutations(["one", "two", "three"]):
        weights = fit_weights(found, legs, [0, 1])
        assert weights == {"one": 0, "two": 1, "three": 1}


def test_a_leg_that_a_case_lacks_found_nothing() -> None:
    found = [Case({"text": ["a"]}, {"a"}), Case({"vector": ["a"]}, {"a"})]
    assert fit_weights(found, ["text", "vector"]) == {"text": 1, "vector": 1}


def test_a_grid_has_a_bounded_number_of_points() -> None:
    legs = [f"leg {n}" for n in range(5)]
    assert len(GRID) ** 5 > GRID_POINTS
    with pytest.raises(LimitExceeded, match="GRID_POINTS = 4,096") as raised:
        fit_weights([], legs)
    assert raised.value.field == "grid"
    assert fit_weights([], legs, [0.5, 1, 1, 1, 2]) == dict.fromkeys(legs, 1.0)


@pytest.mark.parametrize(
    "bad", [[], [-1, 1], [math.nan], [math.inf], [True], ["1"], [None]]
)
def test_a_grid_of_no_weights_is_refused(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        fit_weights([], ["text"], bad)
    assert raised.value.field == "grid"


@pytest.mark.parametrize("bad", [[], "text", ["text", "text"]])
def test_legs_without_a_name_of_their_own_are_refused(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        fit_weights([], bad)
    assert raised.value.field == "legs"


def test_a_case_with_another_leg_is_refused() -> None:
    """Its list would be left out in silence."""
    with pytest.raises(Invalid) as raised:
        fit_weights([Case({"graph": ["a"]}, {"a"})], ["text"])
    assert raised.value.field == "cases"


@pytest.mark.parametrize(
    "bad", [({"text": "ab"}, {"a"}), ({"text": [1]}, {"a"}), ({"text": ["a"]}, "a")]
)
def test_a_case_of_no_ids_is_refused(bad: Any) -> None:
    with pytest.raises(Invalid):
        Case(*bad)


@pytest.mark.parametrize(
    "bad", ["a", b"a", None, 1, iter(["a"]), [1], {uuid.UUID(int=1)}, ["a", None]]
)
def test_what_is_relevant_is_named_by_ids_as_the_lists_are(bad: Any) -> None:
    """An id of another type would be found in no list, and weigh on the measure."""
    with pytest.raises(Invalid, match="which are strings") as raised:
        Case({"text": ["a"]}, bad)
    assert raised.value.field == "relevant"
