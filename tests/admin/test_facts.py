"""Pages of facts, of what they met and of whom they speak; words where they show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from prism_memory.admin import links
from prism_memory.models import (
    AuditEvent,
    ConflictDecision,
    Entity,
    Fact,
    FactVersion,
    Record,
)
from prism_memory.types import FactItem, Trust
from tests.admin.judging import Queue, make_history, make_queue
from tests.admin.rows import make_staff
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory, make_scope
from tests.facts.asserted import assert_one
from tests.kept import kept

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def queue(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Queue]:
    with kept(django_db_blocker):
        make_history()
        yield make_queue()


def row_of(item: FactItem) -> Fact:
    return Fact.objects.get(id=item.id)


def listed(client: Client, **wish: str) -> set[str]:
    answer = client.get(links.list_page(Fact, tenant="acme", **wish))
    assert answer.status_code == 200
    return {row.value for row in answer.context["window"].rows}


def revoke(item: FactItem) -> None:
    rows = Record.objects.filter(id=item.id)
    rows.update(visible=False, revoked_at=timezone.now())


def test_facts_are_narrowed(root: Client, queue: Queue) -> None:
    assert listed(root, acceptance="proposal") == {"tea", "Lisbon"}
    assert listed(root, state="superseded") == {"Faro", "Braga"}
    assert listed(root, state="gated") == {"kind"}
    assert listed(root, state="waiting") == {"Lisbon"}
    assert listed(root, key="home") == {"Porto"}
    assert listed(root, predicate="is") == {"kind"}
    assert listed(root, subject="  ADA ") >= {"Porto", "kind", "Faro"}
    assert listed(root, subject="Bob") == set()


def test_a_search_does_not_confirm_withheld_words(client: Client, queue: Queue) -> None:
    revoke(queue.proposal)
    client.force_login(make_staff("view_fact"))
    assert "tea" in listed(client)
    assert listed(client, subject="Ada") == {
        *("Porto", "Lisbon", "Faro", "Braga", "Evora", "Porto, by the sea")
    }
    assert listed(client, predicate="is") == set(), "the gate holds it back"
    assert listed(client, key=queue.proposal.key) == set(), "made of its words"
    assert listed(client, key="home") == {"Porto"}


def test_facts_of_others_are_listed_beside_without_mixing_tenants(
    root: Client, queue: Queue
) -> None:
    """case_C04."""
    bob = make_memory(make_scope(owner="bob"))
    assert_one("Oslo", memory=bob)
    theirs = make_memory(make_scope(tenant="globex"))
    secret = assert_one("Rome", memory=theirs)
    assert "Oslo" in listed(root, subject="Ada")
    assert "Rome" not in listed(root, subject="Ada")
    foreign = links.page(Fact, "change", f"{secret.id}~acme")
    assert root.get(foreign).status_code == 404


def test_a_page_tells_the_whole_history(root: Client, queue: Queue) -> None:
    """B304, B420."""
    last = Fact.objects.get(value="Evora")
    page = root.get(links.row_page(last))
    rows = page.context["timeline"].table.rows
    assert len(rows) == FactVersion.objects.filter(fact__key="long").count() == 8
    for words in ("she confirmed it", "looked odd", "Ada lives in Faro", "Braga"):
        assert words in page.text
    assert "accepted, quarantined · held" in page.text


@pytest.mark.parametrize("right", ["change_fact", "change_review"])
def test_a_claim_is_retracted_by_who_may(
    client: Client, queue: Queue, right: str
) -> None:
    """B308."""
    user = make_staff("view_fact", right)
    client.force_login(user)
    row = row_of(queue.settled)
    answer = client.post(links.row_page(row, "retract"), {"reason": "we erred"})
    may = right == "change_fact"
    assert answer.status_code == (302 if may else 403)
    row.refresh_from_db()
    assert row.closing == ("retracted" if may else "")
    event = AuditEvent.objects.filter(action="fact.retract", actor=f"user:{user.pk}")
    assert event.exists() is may


def test_a_belief_is_accepted_from_its_page(root: Client, queue: Queue) -> None:
    """B310."""
    belief = assert_one("Coimbra", trust=Trust.AGENT)
    row = row_of(belief)
    assert "Accept" in root.get(links.row_page(row)).text
    root.post(links.row_page(row, "accept"), {"reason": "checked"})
    version = FactVersion.objects.get(fact_id=row.id, recorded_to=None)
    assert version.acceptance == "accepted"
    ask = root.get(links.row_page(row, "accept")).text
    assert "It is accepted already." in ask


def test_withheld_words_are_on_no_page_of_a_fact(root: Client, queue: Queue) -> None:
    revoke(queue.settled)
    rival = row_of(queue.rival)
    for row in (row_of(queue.settled), rival, row_of(queue.conflict)):
        page = root.get(links.row_page(row)).text
        assert "Ada lives in Porto<" not in page
        assert "Ada lives in Porto" not in page.replace("in Porto, by", "")
    assert "revoked" in root.get(links.row_page(row_of(queue.settled))).text


def test_conflicts_hold_no_words(root: Client, queue: Queue) -> None:
    """B341."""
    found = ConflictDecision.objects.get(fact_id=queue.conflict.id)
    page = root.get(links.list_page(ConflictDecision, tenant="acme", state="waiting"))
    assert page.context["window"].rows == [found]
    for text in (page.text, root.get(links.row_page(found)).text):
        assert "0.810" in text
        assert "near, and nothing tells" in text
        assert "by the sea" not in text
    empty = links.list_page(ConflictDecision, tenant="acme", state="settled")
    assert root.get(empty).context["window"].rows == []


def names(client: Client) -> set[Any]:
    page = client.get(links.list_page(Entity, tenant="acme"))
    return {row.shown_name for row in page.context["window"].rows}


def test_an_entity_shows_its_name_where_a_fact_that_says_it_shows(
    client: Client, queue: Queue
) -> None:
    revoke(queue.proposal)
    client.force_login(make_staff("view_entity"))
    assert {"Ada", "Porto"} <= names(client)
    assert "tea" not in names(client)
    assert "kind" not in names(client), "the gate holds that back"
    hidden = Entity.objects.get(name="tea")
    assert "withheld" in client.get(links.row_page(hidden)).text
    client.force_login(make_staff("view_entity", "reveal_record", name="reader"))
    assert "kind" in names(client)


def test_every_statement_of_these_pages_names_the_tenant(
    root: Client, queue: Queue
) -> None:
    fact = row_of(queue.rival)
    pages = [
        links.list_page(model, tenant="acme")
        for model in (Fact, Entity, ConflictDecision)
    ]
    pages += [
        links.row_page(model.objects.filter(tenant="acme")[0])
        for model in (Entity, ConflictDecision)
    ]
    pages += [
        links.list_page(Fact, tenant="acme", subject="Ada", acceptance="proposal"),
        links.list_page(Fact, tenant="acme", state="gated", predicate="is"),
        links.row_page(fact),
        links.row_page(fact, "retract"),
        links.row_page(Record.objects.get(id=fact.id)),
    ]
    for address in pages:
        with tenant_in_every_statement("acme"):
            assert root.get(address).status_code == 200, address
    for deed in ("accept", "quarantine", "retract"):
        with tenant_in_every_statement("acme"):
            root.post(links.row_page(fact, deed), {"reason": "asked"})
    assert Fact.objects.get(id=fact.id).closing == "retracted"


@pytest.mark.parametrize("model", [Fact, Entity, ConflictDecision])
def test_looking_needs_the_models_own_permission(
    client: Client, queue: Queue, model: Any
) -> None:
    client.force_login(make_staff("view_record", "view_review", "reveal_record"))
    row = model.objects.filter(tenant="acme")[0]
    for address in (links.list_page(model, tenant="acme"), links.row_page(row)):
        assert client.get(address).status_code == 403
    client.force_login(make_staff(f"view_{model._meta.model_name}", name="vic"))
    for address in (links.list_page(model, tenant="acme"), links.row_page(row)):
        assert client.get(address).status_code == 200


def test_the_words_that_a_bare_text_rests_on_are_shown_beside_it(
    root: Client, queue: Queue
) -> None:
    """Its evidence is a note that search does not see."""
    text = "Grace keeps bees."
    kept_fact = make_memory().facts.remember(text, provenance="extraction")
    (note,) = kept_fact.evidence
    assert Record.objects.get(id=note).retired_at is not None
    (card,) = root.get(links.row_page(row_of(kept_fact))).context["evidence"]
    assert card.text == text


def test_a_claim_is_put_aside_and_taken_back(root: Client) -> None:
    fact = assert_one(trust=Trust.TOOL)
    row = Fact.objects.get(id=fact.id)
    page = root.get(links.row_page(row)).text
    assert "Archive" in page
    assert "Take back" not in page
    asked = root.get(links.row_page(row, "archive")).text
    assert "Ada lives in Porto" in asked
    root.post(links.row_page(row, "archive"), {"reason": "old"})
    row.refresh_from_db()
    assert row.archived_at is not None
    accept = root.get(links.row_page(row, "accept")).text
    assert "It is archived: take it back first." in accept
    root.post(links.row_page(row, "unarchive"), {"reason": "asked"})
    row.refresh_from_db()
    assert row.archived_at is None
