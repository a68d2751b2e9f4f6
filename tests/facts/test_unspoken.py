"""Names that no fact says any more go; all others stay."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from prism_memory import tasks
from prism_memory.facts.linking import link
from prism_memory.facts.unspoken import Dropped, drop_unspoken
from prism_memory.models import Entity, EntityMerge, Mention
from prism_memory.tasks import sending, tidying
from prism_memory.types import NIL
from tests.capture import tenant_in_every_statement
from tests.factories import NOON, make_memory, make_scope
from tests.facts.asserted import said
from tests.facts.rows import entity, links, make_fact
from tests.swept import sweep
from tests.tables import holding
from tests.together import together


def claim(subject: str, value: str) -> uuid.UUID:
    evidence = [said(f"Heard {uuid.uuid4()}.")]
    return make_memory().facts.assert_fact(subject, "k", value, evidence=evidence).id


def names() -> list[str]:
    return [*Entity.objects.order_by("name").values_list("name", flat=True)]


@pytest.mark.django_db
def test_the_names_of_what_was_purged_go_at_night() -> None:
    """B417: those that another fact says stay, and those of other tenants."""
    gone, record = claim("Zaphod", "Trillian"), claim("Zaphod", "Eccentrica")
    claim("Ada", "Trillian")
    other = make_fact("Ford", "tea", scope=make_scope(tenant="globex"))
    make_memory().facts.purge(gone)
    make_memory().forget(record)
    Mention.objects.filter(fact_id=other, role="object").delete()
    with tenant_in_every_statement("acme") as seen:
        assert drop_unspoken(using="default", tenant="acme").entities == 2
    assert seen.on_tenants()
    assert names() == ["ada", "ford", "tea", "trillian"]
    assert holding("aphod") == []
    sweep("unspoken")
    assert names() == ["ada", "ford", "trillian"]


@pytest.mark.django_db
def test_what_a_merge_speaks_of_stays() -> None:
    """B418: undone or not, it says what a person decided."""
    facts = [claim("Bob", "tea"), claim("Robert", "milk")]
    memory, (bob, robert) = make_memory(), (entity("bob").id, entity("robert").id)
    memory.entities.merge(bob, robert)
    for fact in facts:
        memory.facts.purge(fact)
    assert drop_unspoken(using="default", tenant="acme") == Dropped(2)
    assert names() == ["bob", "robert"]
    Entity.objects.update(merged_into=None)
    EntityMerge.objects.update(undone_at=NOON)
    assert drop_unspoken(using="default", tenant="acme") == Dropped()


@pytest.mark.django_db
def test_it_walks_in_pages_and_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for n in range(5):
        make_fact(f"name {n}")
    Mention.objects.all().delete()
    first = drop_unspoken(using="default", tenant="acme", rows=3)
    assert (first.entities, names()) == (3, ["name 3", "name 4"])
    assert first.next is not None
    last = drop_unspoken(using="default", tenant="acme", after=first.next, rows=3)
    assert last == Dropped(2)
    make_fact("late")
    sent: list[sending.Message] = []
    monkeypatch.setattr(sending.Message, "send", lambda one: sent.append(one))
    monkeypatch.setattr(tidying, "slice_seconds", lambda: 0.0)
    tasks.tidy_entities(using="default", tenant="acme")
    assert [message.kwargs for message in sent] == [
        {"using": "default", "tenant": "acme", "entity": str(NIL)}
    ]


@pytest.mark.django_db(transaction=True)
def test_a_name_that_a_writer_has_in_hand_is_not_dropped() -> None:
    """Each link is written, however often the name is swept beside it."""
    facts = [make_fact("!", text=f"Claim {n}.") for n in range(24)]

    def speak(fact: uuid.UUID) -> bool:
        place = {"using": "default", "subject": "Ada", "value": ""}
        return link(**place, scope=make_scope(), fact_id=fact, at=NOON)

    def write(some: list[uuid.UUID]) -> None:
        for fact in some:
            with transaction.atomic():
                given: Any = {
                    "fact_id": fact,
                    "subject": "Ada",
                    "value": "",
                    "at": NOON,
                }
                assert link(using="default", scope=make_scope(), **given)
            Mention.objects.filter(fact_id=fact).delete()

    def tidy() -> None:
        for _ in range(60):
            drop_unspoken(using="default", tenant="acme")

    together([partial(write, facts[:12]), partial(write, facts[12:]), tidy])
    assert speak(facts[0])
    drop_unspoken(using="default", tenant="acme")
    assert links(facts[0]) == {"subject": "ada"}
