"""Build beside, switch, switch back, drop."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from prism_memory import indexing
from prism_memory.errors import Conflict, NotVisible, Unsupported
from prism_memory.models import AuditEvent, Embedding, EmbeddingSpace
from prism_memory.types import Actor
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import counted, space
from tests.indexing.entries import ENTRIES
from tests.indexing.test_fill import Noting, fill, vectors
from tests.indexing.two_spaces import configure

pytestmark = pytest.mark.django_db

WHO: Any = {"using": "default", "actor": Actor("olga")}


@pytest.fixture(autouse=True)
def _two(settings: Any) -> None:
    configure(settings)


def build(backend: str = "next") -> indexing.Space:
    at = timezone.now()
    return indexing.build_space(alias="default", backend=backend, at=at, **WHO)


def switch(**given: Any) -> indexing.Space:
    return indexing.switch_space(alias="default", at=timezone.now(), **WHO, **given)


def reopen() -> indexing.Space:
    return indexing.reopen_space(alias="default", at=timezone.now(), **WHO)


def states() -> dict[int, str]:
    return dict(EmbeddingSpace.objects.values_list("id", "state"))


def test_what_is_not_whole_does_not_answer() -> None:
    old = space()
    remember("one", "two", wait=True)
    remember("three", scope=make_scope(tenant="globex"), wait=True)
    new = build()
    with pytest.raises(Conflict, match="lacks 3 vectors"):
        switch()
    fill(new, Noting())
    with pytest.raises(Conflict, match="lacks 1 vectors"):
        switch()
    assert states() == {old.id: "active", new.id: "building"}
    fill(new, Noting(), tenant="globex")
    assert switch().id == new.id
    assert states() == {old.id: "retired", new.id: "active"}


def test_recall_goes_on_in_the_new_space_with_its_embedder() -> None:
    """case_C23: from 64 to 96 dimensions, and forgetting works in between."""
    space()
    tea, coffee = remember("Ada drinks tea.", "Bob drinks coffee.", wait=True)
    memory = make_memory()
    assert memory.recall("tea", legs="vector").hits[0].id == tea
    new = build()
    memory.forget([coffee])
    fill(new, Noting())
    assert memory.recall("tea", legs="vector").hits[0].id == tea
    switch()
    found = memory.recall("Ada drinks tea.", legs="vector")
    assert [hit.id for hit in found.hits] == [tea]
    assert found.hits[0].cosine == pytest.approx(1, abs=0.01)
    assert not found.degraded
    later = remember_one("Cleo drinks milk.", wait=True)
    assert memory.recall("Cleo milk", legs="vector").hits[0].id == later
    assert vectors(new) == 2


def test_the_old_space_can_be_switched_back_with_what_was_written_since() -> None:
    old = space()
    one = remember_one("one", key="k", wait=True)
    new = build()
    fill(new, Noting())
    switch()
    remember_one("one, changed", key="k", wait=True)
    remember_one("two", wait=True)
    with pytest.raises(Conflict, match="to switch to"):
        switch()
    assert reopen() == reopen()
    with pytest.raises(Conflict, match="lacks 1"):
        switch()
    embed = Noting("default")
    fill(old, embed)
    assert sorted(embed.texts) == ["one, changed", "two"]
    assert switch().id == old.id
    assert make_memory().recall("one, changed", legs="vector").hits[0].id == one
    assert states() == {old.id: "active", new.id: "retired"}


def test_in_need_it_is_switched_back_at_once_and_recall_says_what_lacks() -> None:
    space()
    remember_one("one", wait=True)
    fill(build(), Noting())
    switch()
    remember_one("two", wait=True)
    reopen()
    switch(anyway=True)
    assert indexing.enqueue_missing(using="default", tenant="acme", space=space()) == 1
    assert "no vector yet" in make_memory().recall("one").degraded


def test_counts_are_of_the_space_that_answers() -> None:
    space()
    remember("one", "two", wait=True)
    new = build()
    fill(new, Noting())
    assert counted() == {make_scope().id: 2}
    switch()
    assert not indexing.recount(using="default", tenant="acme", space=new)
    remember("three", wait=True)
    assert counted() == {make_scope().id: 3}


def test_each_step_is_in_the_audit_of_the_installation() -> None:
    old = space()
    new = build()
    build()  # goes on, and changes nothing
    switch(reason="new model")
    events = AuditEvent.objects.filter(tenant="").order_by("at", "id")
    found = [(one.action, one.target, one.actor, one.reason) for one in events]
    assert found == [
        ("space.build", f"space:{new.id}", "olga", ""),
        ("space.switch", f"space:{new.id}", "olga", "new model"),
    ]
    assert events[1].detail == {"alias": "default", "from": old.id, "anyway": False}


def test_what_cannot_be_built_is_refused(settings: Any) -> None:
    with pytest.raises(Conflict, match="no vectors yet"):
        build()
    space()
    with pytest.raises(Conflict, match=r"are hashing/fnv1a .* already"):
        build("default")
    build()
    with pytest.raises(Conflict, match="drop it first"):
        build("turned")
    EmbeddingSpace.objects.filter(state="building").delete()
    with pytest.raises(Conflict, match="no retired space"):
        reopen()


def test_an_alias_whose_own_entry_changed_builds_of_itself(settings: Any) -> None:
    """B485: the settings name another model under the same alias."""
    old = space()
    remember_one("one", wait=True)
    configure(settings, EMBEDDERS={"default": ENTRIES["next"]})
    new = build("default")
    assert (new.backend, new.entry) == ("", "default")
    fill(new, Noting("default"))
    switch()
    assert make_memory().recall("one", legs="vector").hits
    assert states()[old.id] == "retired"


def test_the_answering_space_is_not_dropped_nor_one_in_a_transaction() -> None:
    old = space()
    drop: Any = {"at": timezone.now(), **WHO}
    with pytest.raises(Unsupported), transaction.atomic():
        indexing.drop_space(space_id=old.id, **drop)


@pytest.mark.django_db(transaction=True)
def test_a_space_is_dropped_with_its_vectors_and_no_other(monkeypatch: Any) -> None:
    module = import_module("prism_memory.indexing.drop_space")
    monkeypatch.setattr(module, "BATCH_ROWS", 2)
    old = space()
    drop: Any = {"at": timezone.now(), **WHO}
    remember("one", "two", "three", wait=True)
    new = build()
    fill(new, Noting())
    with pytest.raises(Conflict, match="answers"):
        indexing.drop_space(space_id=old.id, **drop)
    with pytest.raises(NotVisible):
        indexing.drop_space(space_id=new.id + 1, **drop)
    indexing.create_index(using="default", space=new)
    assert indexing.drop_space(space_id=new.id, **drop) == 3
    assert states() == {old.id: "active"}
    assert Embedding.objects.count() == 3
    assert not indexing.index_state(using="default", space=new).exists
    event = AuditEvent.objects.get(action="space.drop")
    assert event.detail == {"alias": "default", "vectors": 3}
