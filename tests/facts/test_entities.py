"""Entities as people see, merge and unmerge them."""

from __future__ import annotations

import uuid
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.access import Reader
from prism_memory.errors import Conflict, Invalid, LimitExceeded, NotVisible
from prism_memory.facts import entities
from prism_memory.facts.linking import ensure_entities
from prism_memory.facts.merge import merge
from prism_memory.facts.unmerge import unmerge
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.models import AuditEvent, Entity, EntityMerge, Mention, Record
from prism_memory.types import MERGED_AT_MOST, Actor, EntityItem, Scope
from tests.factories import NOON, make_memory, make_scope
from tests.facts.rows import entity, make_fact
from tests.sight import HERE
from tests.together import together
from tests.tries import examples

pytestmark = pytest.mark.django_db

ACTING: dict[str, Any] = {"using": "default", "actor": Actor("person:eve"), "at": NOON}


def merged(one: str, into: str, scope: Scope = HERE, **given: Any) -> uuid.UUID:
    ids: dict[str, Any] = {"entity_id": entity(one).id, "into_id": entity(into).id}
    return merge(scope=scope, **ids, **ACTING, **given)


def unmerged(one: str, scope: Scope = HERE) -> uuid.UUID:
    return unmerge(scope=scope, entity_id=entity(one).id, **ACTING)


def listed(scope: Scope = HERE, **asked: Any) -> list[EntityItem]:
    reader = Reader(scope, at=NOON, **asked)
    items, cursor = list[EntityItem](), None
    while True:
        page = entities.list_entities(
            using="default", reader=reader, rows=2, cursor=cursor
        )
        items += page
        if (cursor := page.next_cursor) is None:
            return items


def make_names(*names: str) -> None:
    ensure_scope(using="default", scope=HERE, at=NOON)
    labels = dict(zip(names, names, strict=True))
    ensure_entities(using="default", scope=HERE, labels=labels, at=NOON)


def state() -> tuple[Any, ...]:
    rows = Entity.objects.order_by("name").values_list("name", "merged_into", "label")
    links = Mention.objects.order_by("fact_id", "role").values_list("fact_id", "entity")
    return [*rows], [*links]


def test_a_merge_is_audited_and_undone_exactly() -> None:
    """B396."""
    make_fact("Bob", "tea")
    make_fact("Robert", "tea", text="Robert drinks tea.")
    before = state()
    merge_id = merged("bob", "robert", reason="The same man.")
    assert EntityMerge.objects.get(id=merge_id).into_id == entity("robert").id
    assert unmerged("bob") == entity("robert").id
    assert state() == before
    undone = EntityMerge.objects.get(id=merge_id)
    assert (undone.undone_at, undone.undone_by) == (NOON, "person:eve")
    told = AuditEvent.objects.filter(target=f"entity:{entity('bob').id}")
    assert [*told.order_by("at", "id").values_list("action", "actor", "reason")] == [
        ("entity.merge", "person:eve", "The same man."),
        ("entity.unmerge", "person:eve", ""),
    ]
    assert "bob" not in str([*told.values_list("detail")]).casefold()


def test_facts_linked_meanwhile_are_of_the_name_that_they_say() -> None:
    """B396."""
    make_fact("Bob", "tea")
    make_fact("Robert", "milk")
    merged("bob", "robert")
    make_fact("Bob", "beer")
    assert [(one.name, one.facts) for one in listed() if one.merged] == [("robert", 3)]
    unmerged("bob")
    found = {one.name: one.facts for one in listed()}
    assert (found["bob"], found["robert"]) == (2, 1)


def test_what_is_merged_is_merged_no_further_and_none_into_it() -> None:
    make_names("a", "b", "c")
    merged("a", "b")
    for one, into in (("a", "c"), ("c", "a"), ("b", "a")):
        with pytest.raises(Conflict):
            merged(one, into)
    with pytest.raises(Invalid):
        merged("c", "c")
    with pytest.raises(Conflict):
        unmerged("c")
    assert EntityMerge.objects.count() == 1


def test_merges_in_a_row_have_an_end() -> None:
    names = [f"n{i}" for i in range(MERGED_AT_MOST + 2)]
    make_names(*names)
    for one, into in pairwise(names[:-1]):
        merged(one, into)
    with pytest.raises(LimitExceeded):
        merged(names[-2], names[-1])


@pytest.mark.parametrize("place", ["tenant", "owner", "agent", "thread"])
def test_a_stranger_merges_and_sees_nothing(place: str) -> None:
    """B396: nor does who stands below the scope of the entities."""
    make_fact("Bob", "tea")
    stranger = make_scope(**{place: "stranger"})
    make_fact("Bob", "tea", scope=stranger)
    with pytest.raises(NotVisible):
        merged("bob", "tea", scope=stranger)
    merged("bob", "tea")
    with pytest.raises(NotVisible):
        unmerged("bob", scope=stranger)
    with pytest.raises(NotVisible):
        entities.get_entity(
            using="default",
            reader=Reader(stranger, at=NOON),
            entity_id=entity("tea").id,
        )
    assert [(one.scope, one.merged) for one in listed(stranger)] == [
        (stranger, ()),
        (stranger, ()),
    ]


def test_entities_are_listed_to_the_last_with_counts_of_visible_facts() -> None:
    """case_C34."""
    above = Scope("acme", "ada")
    make_fact("Bob", "tea", scope=above)
    for drink in ("tea", "milk", "beer"):
        make_fact("Bob", drink)
    hidden = make_fact("Secret", "Bob")
    Record.objects.filter(id=hidden).update(gate="quarantined")
    found = [(one.name, one.scope.thread, one.facts) for one in listed()]
    assert found == [
        ("bob", "", 1),
        ("tea", "", 1),
        ("bob", "chat-1", 3),
        ("tea", "chat-1", 1),
        ("milk", "chat-1", 1),
        ("beer", "chat-1", 1),
    ]
    shown = {one.name: one.facts for one in listed(include_quarantined=True)}
    assert (shown["secret"], shown["bob"]) == (1, 4)


def test_a_name_that_only_hidden_facts_bear_is_not_told() -> None:
    """B395: not even where a visible fact is of the same entity."""
    hidden = make_fact("Agent 007")
    make_fact("James", "tea")
    merged("james", "agent 007")
    Record.objects.filter(id=hidden).update(visible=False)
    (james, _tea) = sorted(listed(), key=lambda one: one.name)
    assert james.id == entity("agent 007").id
    assert (james.name, james.facts) == ("james", 1)
    assert "007" not in repr(listed())
    make_memory().forget([hidden])
    assert "007" not in repr(listed())


def test_one_entity_is_read_by_its_id() -> None:
    make_fact("Bob", "tea")
    make_fact("Robert", "tea", text="Robert drinks tea.")
    merged("bob", "robert")
    reader = Reader(HERE, at=NOON)
    get = partial(entities.get_entity, using="default", reader=reader)
    found = get(entity_id=entity("robert").id)
    assert (found.label, found.facts, found.bounded) == ("Robert", 2, False)
    (bob,) = found.merged
    assert (bob.id, bob.name, bob.into) == (entity("bob").id, "bob", found.id)
    for other in (entity("bob").id, uuid.uuid4()):
        with pytest.raises(NotVisible):
            get(entity_id=other)


def test_a_cursor_of_another_list_is_refused() -> None:
    for drink in ("tea", "milk", "beer"):
        make_fact("Bob", drink)
    reader = Reader(HERE, at=NOON)
    page = entities.list_entities(using="default", reader=reader, rows=1)
    other = Reader(HERE, at=NOON, include_quarantined=True)
    for cursor in (page.next_cursor, "nonsense"):
        with pytest.raises(Invalid):
            entities.list_entities(using="default", reader=other, rows=1, cursor=cursor)


NAMES = ["a", "b", "c", "d"]
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from([*NAMES, None])), max_size=12
)


@settings(
    max_examples=examples(25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(STEPS)
def test_merges_are_a_forest_of_roots(steps: list[tuple[str, str | None]]) -> None:
    """B396: as a naive model has it, and one name is one row throughout."""
    EntityMerge.objects.all().delete()
    make_names(*NAMES)
    Entity.objects.update(merged_into=None)
    model: dict[str, str | None] = dict.fromkeys(NAMES)
    for one, into in steps:
        wrong = (
            model[one] is None
            if into is None
            else (one == into or model[one] is not None or model[into] is not None)
        )
        try:
            unmerged(one) if into is None else merged(one, into)
        except (Conflict, Invalid):
            assert wrong
        else:
            assert not wrong
            model[one] = into
    ids = {row.name: row.id for row in Entity.objects.all()}
    found = {row.name: row.merged_into for row in Entity.objects.all()}
    assert found == {n: into and ids[into] for n, into in model.items()}
    in_force = EntityMerge.objects.filter(undone_at=None)
    assert {(m.entity_id, m.into_id) for m in in_force} == {
        (ids[n], ids[into]) for n, into in model.items() if into
    }


@pytest.mark.django_db(transaction=True)
def test_two_that_merge_each_other_at_once_make_no_circle() -> None:
    """B396."""
    make_names("a", "b")

    def attempt(one: str, into: str) -> bool:
        try:
            merged(one, into)
        except Conflict:
            return False
        return True

    calls = [partial(attempt, *pair) for pair in (("a", "b"), ("b", "a")) * 2]
    assert sorted(together(calls)) == [False, False, False, True]
