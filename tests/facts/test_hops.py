"""Recall of facts that share an entity."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.errors import Invalid, LimitExceeded, PrismMemoryError
from prism_memory.memory import Memory
from prism_memory.models import Entity, Record
from prism_memory.types import Kind, ReadMode, Scope
from tests.factories import make_memory, make_record, make_scope, make_tombstone
from tests.facts.rows import entity, make_fact
from tests.governed import make_share

pytestmark = pytest.mark.django_db

QUESTION = "Which zebra does he ride?"
TEXT_ONLY: dict[str, Any] = {"legs": "text"}


@pytest.fixture
def chain() -> tuple[uuid.UUID, ...]:
    """Three facts, each of which shares an entity with the next."""
    return (
        make_fact("Bob", "zebra", text="Bob rides a zebra."),
        make_fact("Bob", "Paris", text="His home is there."),
        make_fact("Paris", "France", text="It lies in that country."),
    )


def found(
    memory: Memory | None = None, question: str = QUESTION, **asked: Any
) -> list[uuid.UUID]:
    memory = memory or make_memory()
    return [hit.id for hit in memory.recall(question, 10, **{**TEXT_ONLY, **asked})]


def test_a_hop_brings_in_what_shares_an_entity(chain: tuple[uuid.UUID, ...]) -> None:
    """B393, B394: each hop counts half as much as the one before."""
    direct, one, two = chain
    assert found() == found(expand_hops=0) == [direct]
    assert found(expand_hops=1) == [direct, one]
    assert found(expand_hops=2) == [direct, one, two]


def test_hits_say_that_they_were_reached(chain: tuple[uuid.UUID, ...]) -> None:
    memory = make_memory()
    answer = memory.recall(QUESTION, 5, explain=True, expand_hops=2, **TEXT_ONLY)
    told = [(hit.method, hit.signals.get("entity"), hit.ranks) for hit in answer]
    assert told == [
        ("text", None, {"text": 1}),
        ("entity", 0.5, {"entity": 1}),
        ("entity", 0.25, {"entity": 2}),
    ]
    assert [hit.score for hit in answer] == sorted(
        (hit.score for hit in answer), reverse=True
    )
    why = answer.explanations[1]
    assert (why.method, why.weights["entity"]) == ("entity", 0.5)


@pytest.mark.parametrize("fusion", ["convex", "rrf", "blend"])
def test_each_fusion_knows_the_leg(chain: tuple[uuid.UUID, ...], fusion: str) -> None:
    assert {*found(expand_hops=2, fusion=fusion)} == {*chain}
    assert found(expand_hops=2, fusion=fusion)[0] == chain[0]


def test_nothing_is_asked_twice_by_default(django_assert_num_queries) -> None:
    """B393: 0 changes nothing, and costs nothing. One of each tells what facts are."""
    make_fact("Bob", "zebra", text="Bob rides a zebra.")
    memory = make_memory()
    found()  # what a process learns at first
    with django_assert_num_queries(2):
        memory.recall(QUESTION, 5, expand_hops=0, **TEXT_ONLY)
    with django_assert_num_queries(4):
        memory.recall(QUESTION, 5, expand_hops=1, entity_match=True, **TEXT_ONLY)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"expand_hops": 3}, LimitExceeded),
        ({"expand_hops": -1}, LimitExceeded),
        ({"expand_hops": True}, LimitExceeded),
        ({"entity_match": 1}, Invalid),
    ],
)
def test_other_values_are_refused(
    asked: dict[str, Any], error: type[PrismMemoryError]
) -> None:
    with pytest.raises(error) as caught:
        make_memory().recall("a", 1, **asked)
    assert caught.value.field in asked


LATER = timezone.now() + dt.timedelta(days=1)
HIDDEN: dict[str, dict[str, Any]] = {
    "quarantined": {"gate": "quarantined"},
    "revoked": {"revoked_at": LATER},
    "retired": {"retired_at": LATER},
    "hidden": {"visible": False},
    "expired": {"expires_at": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)},
    "superseded": {"valid_to": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)},
    "not yet": {"valid_from": LATER},
}


@pytest.mark.parametrize("state", [*HIDDEN, "forgotten", "deleted"])
def test_what_is_hidden_never_bridges(state: str, chain: tuple[uuid.UUID, ...]) -> None:
    """B395."""
    direct, bridge, _ = chain
    record = Record.objects.get(tenant="acme", id=bridge)
    if state == "forgotten":
        make_tombstone(record)
    elif state == "deleted":
        make_memory().forget([bridge])
    else:
        Record.objects.filter(tenant="acme", id=bridge).update(**HIDDEN[state])
    assert found(expand_hops=2) == [direct]


@pytest.mark.parametrize("place", ["tenant", "owner", "agent", "thread"])
def test_what_is_foreign_neither_bridges_nor_is_found(place: str) -> None:
    """B395: strangers speak of the same names."""
    here = make_scope()
    stranger = replace(here, **{place: "stranger"})
    direct = make_fact("Bob", "zebra", text="Bob rides a zebra.")
    make_fact("Bob", "Paris", text="His home is there.", scope=stranger)
    far = make_fact("Paris", "France", text="It lies in that country.")
    assert found(expand_hops=2) == [direct]
    assert found(question="Paris", entity_match=True) == [far]
    assert found(make_memory(stranger), expand_hops=2) == []


def test_levels_of_the_chain_share_what_they_call_alike() -> None:
    """B382: an entity is of one scope; its name is met in each that is in sight."""
    owner = Scope("acme", "ada")
    direct = make_fact("Bob", "zebra", text="Bob rides a zebra.")
    above = make_fact("BOB", "Paris", text="His home is there.", scope=owner)
    assert found(expand_hops=1) == [direct, above]
    exact = make_memory(read=ReadMode.EXACT)
    assert found(exact, expand_hops=1) == [direct]
    assert found(make_memory(owner), expand_hops=1) == []


@pytest.mark.parametrize(
    "asked",
    [{"tags": ["a"]}, {"kinds": [Kind.TURN]}, {"filter": {"tags": "a"}}, {"ids": []}],
    ids=str,
)
def test_what_narrows_narrows_each_hop(
    asked: dict[str, Any], chain: tuple[uuid.UUID, ...]
) -> None:
    """B382: no fact is tagged."""
    assert found(expand_hops=2, entity_match=True, **asked) == []


def test_a_bridge_outside_the_tag_leads_nowhere() -> None:
    """B375, B395."""
    direct = make_fact("Bob", "zebra", text="Bob rides a zebra.", tags=["a"])
    make_fact("Bob", "Paris", text="His home is there.", tags=["b"])
    make_fact("Paris", "France", text="It lies there.", tags=["a"])
    near = make_fact("Bob", "tea", text="He drinks that.", tags=["a"])
    assert found(expand_hops=2, tags=["a"]) == [direct, near]


def test_merged_entities_are_one() -> None:
    """B396: reads follow merges, also several in a row."""
    direct = make_fact("Bob", "zebra", text="Bob rides a zebra.")
    other = make_fact("Robert", "tea", text="He drinks that.")
    third = make_fact("Mr Smith", "Paris", text="His home is there.")
    assert found(expand_hops=1) == [direct]
    for one, into in (("bob", "robert"), ("robert", "mr smith")):
        merged = Entity.objects.filter(tenant="acme", id=entity(one).id)
        merged.update(merged_into=entity(into).id)
    assert {*found(expand_hops=1)} == {direct, other, third}
    assert {*found(question="Smith", entity_match=True)} == set()
    assert {*found(question="Mr Smith?", entity_match=True)} == {direct, other, third}


def test_an_entity_that_is_named_brings_its_facts() -> None:
    """B397."""
    make_record("A turn that names nobody.")
    fact = make_fact("Ada Lovelace", "Paris", text="Her home is there.")
    answer = make_memory().recall(
        "And Ada Lovelace?", 5, entity_match=True, **TEXT_ONLY
    )
    assert [(hit.id, hit.signals["entity"]) for hit in answer] == [(fact, 1.0)]
    assert found(question="And Ada?", entity_match=True) == []


def test_a_fact_that_is_found_and_named_counts_twice() -> None:
    """B397."""
    named = make_fact("Ada", "zebra", text="Ada rides a zebra and a bicycle.")
    other = make_fact("Bob", "zebra", text="Ada rides a zebra.")
    assert found(question="Does Ada ride a zebra?") == [other, named]
    assert found(question="Does Ada ride a zebra?", entity_match=True)[0] == named


def test_what_is_shared_with_a_thread_bridges_nothing() -> None:
    """B395: the thread that reads sees the row, but not what is around it."""
    parent = make_scope(thread="chat-0")
    shared = make_fact("Bob", "zebra", text="Bob rides a zebra.", scope=parent)
    make_fact("Bob", "Paris", text="His home is there.", scope=parent)
    make_share(Record.objects.select_related("scope").get(id=shared), child="chat-1")
    asked: dict[str, Any] = {"share_from_parent_thread_id": "chat-0"}
    assert found(expand_hops=2, **asked) == [shared]
