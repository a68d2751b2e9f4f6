from __future__ import annotations

import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid
from prism_memory.recall.fusion import (
    RRF_K,
    SHARPNESS,
    convex,
    fuse_weighted,
    order,
    reciprocal_rank,
    rrf_of,
    weighted_convex,
)
from prism_memory.types import Candidate

A, B, C = (str(uuid.UUID(int=number)) for number in (1, 2, 3))

legs = st.dictionaries(
    st.sampled_from(["vector", "text", "recency"]),
    st.lists(st.uuids().map(str), max_size=12, unique=True),
    max_size=3,
)
some = st.sampled_from("abcdefgh")
weights = st.floats(0, 100)
scored = st.dictionaries(
    st.sampled_from(["vector", "text", "recency"]),
    st.dictionaries(some, st.floats(-1, 100)),
)


def candidates(found: dict[str, list[str]]) -> list[Candidate]:
    return [
        Candidate(record_id, leg, rank, 1 / rank)
        for leg, ids in found.items()
        for rank, record_id in enumerate(ids, 1)
    ]


def test_a_score_is_the_sum_of_reciprocal_ranks() -> None:
    """B361."""
    scores = reciprocal_rank(candidates({"vector": [A, B], "text": [B]}))

    assert scores == {A: 1 / (RRF_K + 1), B: 1 / (RRF_K + 1) + 1 / (RRF_K + 2)}


@pytest.mark.parametrize("k", [0, -1, float("inf"), float("nan")])
def test_k_must_be_positive_and_finite(k: float) -> None:
    """B361."""
    with pytest.raises(Invalid):
        reciprocal_rank([], k=k)


@given(legs, st.randoms(use_true_random=False))
def test_fusing_does_not_depend_on_the_order_of_lists(
    found: dict[str, list[str]], shuffler: random.Random
) -> None:
    """B364, B506."""
    listed = candidates(found)
    shuffled = listed.copy()
    shuffler.shuffle(shuffled)
    sequences = {c.record_id: hash(c.record_id) % 3 for c in listed}

    first = order(reciprocal_rank(listed), sequences)
    second = order(reciprocal_rank(shuffled), sequences)

    assert reciprocal_rank(listed) == reciprocal_rank(shuffled)
    assert first == second


@given(legs)
def test_what_two_legs_find_beats_what_one_finds_at_the_same_ranks(
    found: dict[str, list[str]],
) -> None:
    listed = candidates(found)
    scores = reciprocal_rank(listed)

    for candidate in listed:
        assert scores[candidate.record_id] >= 1 / (RRF_K + candidate.rank)


def test_ties_go_by_sequence_then_id() -> None:
    """B114."""
    scores = {A: 0.5, C: 0.5, B: 0.5}

    assert order(scores, {A: 2, B: 1, C: 1}) == [B, C, A]
    assert order({**scores, A: 0.6}, {A: 2, B: 1, C: 1}) == [A, B, C]


def test_relative_scores_are_mixed_in_equal_shares() -> None:
    found = convex({"vector": {A: 0.8, B: 0.6, C: 0.4}, "text": {B: 10.0, C: 5.0}})

    half_near, half = 0.5 ** SHARPNESS["vector"], 0.5 ** SHARPNESS["text"]
    assert found == pytest.approx({A: 1 / 2, B: (half_near + 1) / 2, C: half / 2})


def test_a_leg_that_found_nothing_does_not_count() -> None:
    assert convex({"vector": {}, "text": {A: 7.0}}) == {A: 1.0}
    assert convex({"vector": {}, "text": {}}) == {}


def test_one_cosine_alone_is_the_best_there_is() -> None:
    assert convex({"vector": {A: -0.3}}) == {A: 1.0}


@given(
    st.dictionaries(st.sampled_from([A, B, C]), st.floats(-1, 1)),
    st.dictionaries(st.sampled_from([A, B, C]), st.floats(0, 100)),
)
def test_a_mixed_score_lies_between_0_and_1(
    vector: dict[str, float], text: dict[str, float]
) -> None:
    """B62, B364."""
    found = convex({"vector": vector, "text": text})

    assert set(found) == set(vector) | set(text)
    assert all(0 <= score <= 1 for score in found.values())
    assert found == convex({"text": text, "vector": vector})


# Legs with weights.


def test_a_leg_has_its_share_of_a_mixed_score() -> None:
    found = weighted_convex(
        {"vector": {A: 0.8, B: 0.4}, "text": {B: 10.0, C: 5.0}},
        {"vector": 3, "text": 1},
    )

    assert found == pytest.approx({A: 3 / 4, B: 1 / 4, C: 0.5 ** SHARPNESS["text"] / 4})


@given(scored, st.floats(0.001, 1_000))
def test_equal_shares_are_the_plain_mix(
    found: dict[str, dict[str, float]], weight: float
) -> None:
    assert weighted_convex(found, dict.fromkeys(found, weight)) == convex(found)
    assert weighted_convex(found, {"another leg": weight}) == convex(found)


@given(scored, st.dictionaries(st.sampled_from(["vector", "text"]), weights))
def test_weighted_scores_lie_between_0_and_1_in_any_order_of_legs(
    found: dict[str, dict[str, float]], given_weights: dict[str, float]
) -> None:
    """B62, B364."""
    reverse = dict(reversed(found.items()))
    mixed = weighted_convex(found, given_weights)

    assert set(mixed) == {i for scores in found.values() for i in scores}
    assert all(0 <= score <= 1 for score in mixed.values())
    assert mixed == weighted_convex(reverse, given_weights)


def test_only_legs_of_weight_0_still_give_an_order() -> None:
    legs = {"vector": {}, "text": {A: 2.0, B: 1.0}}
    shares = {"vector": 1, "text": 0}

    assert weighted_convex(legs, shares) == convex(legs)
    assert rrf_of({"text": {A: 1, B: 2}}, shares) == {A: 1.0, B: 61 / 62}


def test_a_leg_of_weight_0_says_nothing_beside_another() -> None:
    legs = {"vector": {A: 0.8, B: 0.4}, "text": {B: 9.0}}

    assert weighted_convex(legs, {"text": 0}) == {A: 1.0, B: 0.0}
    assert rrf_of({"vector": {A: 1}, "text": {B: 1}}, {"text": 0}) == {A: 1.0, B: 0.0}


def test_the_first_of_each_leg_has_a_fused_rank_of_1() -> None:
    found = rrf_of({"vector": {A: 1, B: 2}, "text": {A: 1, C: 3}}, {"text": 3}, k=1)

    assert found == pytest.approx({A: 1.0, B: 2 / 3 / 4, C: 3 * 2 / 4 / 4})


@given(st.lists(st.lists(some, max_size=8, unique=True), max_size=4), st.data())
def test_fused_ranks_of_legs_are_those_of_lists_to_scale(
    found: list[list[str]], data: st.DataObject
) -> None:
    shares = [data.draw(st.sampled_from([0.5, 1.0, 2.0])) for _ in found]
    names = [f"leg {n}" for n in range(len(found))]
    ranks = {
        name: {i: rank for rank, i in enumerate(ids, 1)}
        for name, ids in zip(names, found, strict=True)
    }
    told = sum(w for w, ids in zip(shares, found, strict=True) if ids)

    scaled = rrf_of(ranks, dict(zip(names, shares, strict=True)))

    expected = {i: s * 61 / told for i, s in fuse_weighted(found, shares)}
    assert scaled == pytest.approx(expected)
    assert all(0 < score <= 1 for score in scaled.values())
