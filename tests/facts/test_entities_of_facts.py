"""Entities of facts that were asserted, by the door: linked, recalled, erased."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection

from prism_memory import backends, indexing
from prism_memory.errors import Invalid, NotVisible
from prism_memory.facts import resolve
from prism_memory.models import Entity, Mention
from prism_memory.types import FactItem
from tests.capture import tenant_in_every_statement
from tests.factories import NOON, make_memory, make_scope
from tests.facts.asserted import said
from tests.facts.rows import entity, links
from tests.governance.trail import KEYS
from tests.tables import holding

pytestmark = pytest.mark.django_db


def claim(subject: str, value: str, evidence: uuid.UUID | None = None) -> FactItem:
    return make_memory().facts.assert_fact(
        subject, "knows", value, evidence=[evidence or said(f"Heard {uuid.uuid4()}.")]
    )


def test_what_is_asserted_is_linked_by_its_names() -> None:
    """case_C29, B354."""
    one, other = claim("Ada Lovelace", "Bob"), claim("“ADA  LOVELACE”", "bob!")
    assert links(one.id) == {"subject": "ada lovelace", "object": "bob"}
    assert links(other.id) == links(one.id)
    found = {item.name: item.facts for item in make_memory().entities()}
    assert found == {"ada lovelace": 2, "bob": 2}


def test_a_failing_resolver_leaves_the_fact(settings: Any) -> None:
    """B355."""
    wish = {"ENTITY_RESOLVER": "tests.facts.test_linking.failing"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish
    fact = claim("Ada", "Bob")
    assert make_memory().facts.get(fact.id) == fact
    assert links(fact.id) == {}


def test_a_hop_goes_over_asserted_facts() -> None:
    """B393."""
    found, near = claim("Bob", "zebras"), claim("Bob", "Paris")
    hits = make_memory().recall("zebras", 5, legs="text", expand_hops=1)
    assert [hit.id for hit in hits] == [found.id, near.id]


def test_a_superseded_or_retracted_fact_bridges_no_more() -> None:
    """B395."""
    found, bridge = claim("Bob", "zebras"), claim("Bob", "Paris")
    claim("Paris", "France")
    memory = make_memory()

    def hops() -> int:
        return len(memory.recall("zebras", 5, legs="text", expand_hops=2)) - 1

    assert hops() == 2
    memory.facts.quarantine(bridge.id, reason="looked odd")
    assert hops() == 0
    memory.facts.validate(bridge.id)
    assert hops() == 2
    memory.facts.retract(bridge.id)
    assert hops() == 0
    memory.facts.forget(found.id)
    assert hops() == -1


def test_a_row_that_was_edited_behind_the_app_bridges_nothing(settings: Any) -> None:
    """B395: nor is it found over an entity."""
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"INTEGRITY_KEYS": KEYS}
    found, bridge = claim("Bob", "zebras"), claim("Bob", "Paris")
    claim("Paris", "France")
    with connection.cursor() as cursor:
        statement = "UPDATE prism_memory_record SET text = 'Edited.' WHERE id = %s"
        cursor.execute(statement, [bridge.id])
    answer = make_memory().recall("zebras", 5, legs="text", expand_hops=2)
    assert [hit.id for hit in answer] == [found.id]
    assert "withheld" in answer.degraded


def test_a_fact_is_purged_and_other_links_stay() -> None:
    """B418: the foreign key of a link keeps nobody from it."""
    gone, kept = claim("Ada", "Bob"), claim("Ada", "Paris")
    make_memory().facts.purge(gone.id)
    assert not Mention.objects.filter(fact_id=gone.id).exists()
    assert links(kept.id) == {"subject": "ada", "object": "paris"}
    assert [item.name for item in make_memory().entities()] == ["ada", "paris"]


def test_an_erasure_takes_the_names_that_nothing_else_says() -> None:
    """B325."""
    words = said("Zaphod knows Trillian.")
    claim("Zaphod", "Trillian", words)
    claim("Ada", "Trillian")
    make_memory().entities.merge(entity("zaphod").id, entity("ada").id)
    make_memory().erase(record=words)
    assert holding("aphod") == []
    assert [*Entity.objects.order_by("name").values_list("name", flat=True)] == [
        "ada",
        "trillian",
    ]


def test_an_erasure_takes_the_name_of_an_entity_that_others_are_merged_into() -> None:
    """B325: these stay one, under a name that somebody still says."""
    words = said("Zaphod knows Trillian.")
    claim("Zaphod", "Trillian", words)
    one, other = claim("Ada", "tea"), claim("Countess", "milk")
    memory = make_memory()
    for name in ("ada", "countess"):
        memory.entities.merge(entity(name).id, entity("zaphod").id)
    memory.erase(record=words)
    assert holding("aphod") == []
    assert {item.name: item.facts for item in memory.entities()} == {
        "ada": 2,
        "tea": 1,
        "milk": 1,
    }
    hits = memory.recall("Countess?", 5, legs="text", entity_match=True)
    assert {hit.id for hit in hits} == {one.id, other.id}


def test_the_door_merges_lists_and_unmerges() -> None:
    """B396."""
    claim("Bob", "tea")
    claim("Robert", "tea")
    entities = make_memory().entities
    bob, robert = entity("bob").id, str(entity("robert").id)
    entities.merge(bob, robert, reason="The same.")
    assert [item.name for item in entities()] == ["tea", "robert"]
    found = entities.get(robert)
    assert (found.facts, [one.name for one in found.merged]) == (2, ["bob"])
    assert entities.unmerge(bob) == uuid.UUID(robert)
    assert entities.get(bob).facts == 1
    with pytest.raises(Invalid):
        entities.get("no id")
    stranger = make_memory(make_scope(thread="chat-2")).entities
    assert [*stranger()] == []
    for call in (stranger.get, stranger.unmerge):
        with pytest.raises(NotVisible):
            call(bob)


def test_the_asynchronous_twins_do_the_same() -> None:
    claim("Bob", "tea")
    claim("Robert", "milk")
    entities = make_memory().entities
    bob, robert = entity("bob").id, entity("robert").id
    async_to_sync(entities.amerge)(bob, robert)
    assert async_to_sync(entities.aget)(robert).facts == 2
    assert [one.name for one in async_to_sync(entities.alist)(limit=1)] == ["tea"]
    assert async_to_sync(entities.aunmerge)(bob) == robert


def test_every_statement_names_the_tenant() -> None:
    """B22."""
    claim("Bob", "tea")
    claim("Robert", "tea")
    memory = make_memory()
    entities, bob, robert = memory.entities, entity("bob").id, entity("robert").id
    space = indexing.active(
        using="default",
        alias="default",
        identity=backends.get_embedder().identity,
    )
    embed = partial(backends.embed, backends.get_embedder(), role="passage")
    own: dict[str, Any] = {"using": "default", "tenant": "acme", "space": space}
    with tenant_in_every_statement("acme") as seen:
        claim("Ada", "tea")
        entities(limit=1)
        entities.get(bob)
        entities.merge(bob, robert)
        entities.unmerge(bob)
        memory.recall("tea", expand_hops=2, entity_match=True)
        resolve(**own, embed=embed, at=NOON, batch=2)
    assert seen.on_tenants()


def test_no_secret_is_told() -> None:
    """B133."""
    claim("Agent hunter2", "tea")
    shown = repr(make_memory(secrets=["hunter2"]).entities())
    assert "hunter2" not in shown
    assert "[redacted]" in shown
