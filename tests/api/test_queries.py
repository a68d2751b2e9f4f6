"""What a request costs, with the reason of every query."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def known(alice: Caller) -> Caller:
    """Alice, whose key was used in this minute, and whose vectors are there."""
    alice.remember("Tea, not coffee", key="drink", wait=True)
    alice.recalls("tea")
    return alice


def test_the_first_use_in_a_minute_is_noted(
    alice: Caller, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(2):  # key, its use
        alice.get("limits")
    with django_assert_num_queries(1):  # key
        alice.get("limits")


def test_a_recall(known: Caller, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(2):  # key, recall
        known.recalls("tea")


@pytest.mark.parametrize(
    ("option", "more"),
    [
        ({"fusion": "rrf", "weights": {"text": 2}, "tags": []}, 0),
        ({"scoring": {"importance_weight": 0.5}, "trust_weighting": False}, 0),
        ({"as_of": "2030-01-01T00:00:00Z", "known_at": "2030-01-01T00:00:00Z"}, 0),
        ({"include_quarantined": True, "include_superseded": True}, 0),
        ({"message_range": 1}, 1),  # the rows beside
        ({"explain": True}, 1),  # lineage and tombstones
        ({"decay_days": 30}, 1),  # strengths
        ({"diversity": 0.5}, 1),  # vectors
    ],
    ids=str,
)
def test_an_option_costs_what_it_says(
    known: Caller,
    django_assert_max_num_queries: Any,
    option: dict[str, Any],
    more: int,
) -> None:
    with django_assert_max_num_queries(2 + more):  # key, recall, and that
        known.recalls("tea", **option)


def test_reading_and_listing(known: Caller, django_assert_num_queries: Any) -> None:
    (item,) = known.get("memories").json()["items"]

    with django_assert_num_queries(2):  # key, record
        known.get(f"memories/{item['id']}")
    with django_assert_num_queries(2):  # key, page
        known.get("memories")


def test_what_is_pending(known: Caller, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(3):  # key, space, count
        known.get("pending")


def test_a_refusal_asks_only_for_the_key(
    known: Caller, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):  # key
        known.post("recall", {"query": ""})
    with django_assert_num_queries(1):  # key
        known.post("recall", {"query": "tea", "fusion": "magic", "explain": True})
    with django_assert_num_queries(1):  # key
        known.post("recall/deep", {"query": "tea", "max_iterations": 9})
    with django_assert_num_queries(1):  # key
        known.post("memories", {"text": "a", "tenant": "globex"})
    with django_assert_num_queries(0):
        Caller("").get("memories")


def test_remembering_costs_the_same_for_one_and_for_many(
    known: Caller, django_assert_max_num_queries: Any
) -> None:
    """case_C33."""
    entries = [{"text": f"memory {n}"} for n in range(100)]

    # key, space; savepoint, scope, lock, upsert, enqueue, release, and no more
    with django_assert_max_num_queries(10) as one:
        known.post("memories", {"entries": entries[:1]})
    with django_assert_max_num_queries(10) as many:
        known.post("memories", {"entries": entries[1:]})

    assert len(one.captured_queries) == len(many.captured_queries)
