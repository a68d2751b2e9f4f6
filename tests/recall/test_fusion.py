from __future__ import annotations

import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid
from prism_memory.recall.fusion import RRF_K, SHARPNESS, convex, order, reciprocal_rank
from prism_memory.types import Candidate

A, B, C = (str(uuid.UUID(int=number)) for number in (1, 2, 3))

legs = st.dictionaries(
    st.sampled_from(["vector", "text", "recency"]),
    st.lists(st.uuids().map(str), max_size=12, unique=True),
    max_size=3,
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

    first = order(reciprocal_rank(listed), listed, sequences)
    second = order(reciprocal_rank(shuffled), shuffled, sequences)

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


def test_ties_go_by_best_rank_then_sequence_then_id() -> None:
    """B114, B364."""
    listed = candidates({"vector": [A], "text": [B], "recency": [C]})
    scores = reciprocal_rank(listed)

    assert order(scores, listed, {A: 2, B: 1, C: 1}) == [B, C, A]


def test_relative_scores_are_mixed_in_equal_shares() -> None:
    found = convex({"vector": {A: 0.8, B: 0.6, C: 0.4}, "text": {B: 10.0, C: 5.0}})

    half = 0.5**SHARPNESS
    assert found == pytest.approx({A: 1 / 2, B: (half + 1) / 2, C: half / 2})


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
