"""The queue and its pages: what waits is decided once, by who may, and audited."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from prism_memory.admin import links
from prism_memory.admin.deeds import DEEDS
from prism_memory.admin.reviews import DEEDS_HERE
from prism_memory.models import (
    AuditEvent,
    ConflictDecision,
    Fact,
    FactVersion,
    Record,
    Review,
)
from prism_memory.types import ReviewAction
from tests.admin.judging import Queue, make_queue
from tests.admin.rows import make_staff
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory, make_scope
from tests.kept import kept

pytestmark = pytest.mark.django_db

REVIEWER = ("view_review", "change_review")
READER = (*REVIEWER, "reveal_record")


@pytest.fixture(scope="module")
def queue(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Queue]:
    with kept(django_db_blocker):
        yield make_queue()


def proposal(queue: Queue) -> Review:
    return queue.review(queue.proposal, "proposal")


def poisoned(queue: Queue) -> Review:
    return queue.review(queue.poisoned, "quarantined")


def decide(client: Client, row: Review, deed: str, reason: str = "read it") -> Any:
    return client.post(links.row_page(row, deed), {"reason": reason}, follow=True)


def many(client: Client, verb: str, rows: list[Review], **given: str) -> Any:
    page = links.with_wish(links.page(Review, "many"), {"tenant": "acme"})
    values = {"verb": verb, "ids": [str(row.id) for row in rows], **given}
    return client.post(page, values, follow=True)


def acceptance(fact_id: Any) -> str:
    return FactVersion.objects.get(fact_id=fact_id, recorded_to=None).acceptance


def gate(record_id: Any) -> str:
    return Record.objects.get(id=record_id).gate


# -- the queue


def test_the_queue_tells_what_waits_and_how_much(root: Client, queue: Queue) -> None:
    answer = root.get(links.list_page(Review, tenant="acme"))
    assert [row.why for row in answer.context["window"].rows] == [
        *["conflict"],
        *["proposal"] * 2,
        *["quarantined"] * 2,
    ]
    counts = [(str(label), count) for label, count, _ in answer.context["counts"]]
    assert counts == [
        ("All", "5"),
        ("Proposal", "2"),
        ("Quarantined", "2"),
        ("Conflict", "1"),
    ]
    assert "Ada lives in tea" in answer.text


def test_counts_stop_at_a_bound_and_say_so(
    root: Client, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("review_filters", "review_parts"):
        monkeypatch.setattr(f"prism_memory.admin.{name}.MOST_COUNTED", 1)
    answer = root.get(links.list_page(Review, tenant="acme"))
    counts = [count for _label, count, _ in answer.context["counts"]]
    assert counts == ["4+", "1+", "1+", "1"]


def test_the_queue_is_narrowed(root: Client, queue: Queue) -> None:
    long_ago = timezone.now() - dt.timedelta(days=9)
    Review.objects.filter(id=poisoned(queue).id).update(opened_at=long_ago)
    Record.objects.filter(id=queue.proposal.id).update(trust="tool")

    def found(**wish: str) -> set[Any]:
        page = root.get(links.list_page(Review, tenant="acme", **wish))
        return {row.record_id for row in page.context["window"].rows}

    assert found(why="conflict") == {queue.conflict.id}
    assert found(trust="tool") == {queue.proposal.id}
    assert found(age="week") == {queue.poisoned.id}
    assert found(age="month") == set()
    assert found(state="decided") == set()
    decide(root, proposal(queue), "accept")
    assert found(state="decided") == {queue.proposal.id}
    assert queue.proposal.id not in found()


def test_another_tenants_queue_is_another(root: Client, queue: Queue) -> None:
    """case_C04."""
    make_memory(make_scope(tenant="globex")).remember("Their own words.")
    answer = root.get(links.list_page(Review, tenant="globex"))
    assert answer.context["window"].rows == []
    row = proposal(queue)
    foreign = links.page(Review, "accept", f"{row.id}~globex")
    assert root.post(foreign, {"reason": "x"}).status_code == 404
    page = links.with_wish(links.page(Review, "many"), {"tenant": "globex"})
    given = {"verb": "accept", "ids": [str(row.id)], "do": "1", "reason": "x"}
    assert "Choose 1 to 100" in root.post(page, given, follow=True).text
    assert acceptance(queue.proposal.id) == "proposal"


# -- its pages


def test_a_page_shows_the_claim_its_evidence_and_what_it_would_replace(
    root: Client, queue: Queue
) -> None:
    page = root.get(links.row_page(queue.review(queue.rival, "proposal")))
    assert "The CRM says that Ada moved to Lisbon." in page.text
    assert "call-7" in page.text
    (rival,) = page.context["rivals"]
    assert rival.address == links.row_page(Record.objects.get(id=queue.settled.id))
    citing = page.context["tables"][0]
    (line,) = citing.rows
    assert links.row_page(Fact.objects.get(id=queue.proposal.id)) in str(line[0])
    assert line[-1] == 1
    assert page.text.count("pm-drawing") == 2
    assert "prism_memory/review.js" in page.text


def test_where_rules_matched_is_marked(root: Client, queue: Queue) -> None:
    page = root.get(links.row_page(poisoned(queue))).text
    assert "ignore-instructions</span>" in page
    assert "<b>Now" not in page
    assert "U+200B" in page
    assert "Rules match still: ignore-instructions" in page


def test_what_the_gate_holds_back_is_read_by_who_may_see_withheld_text(
    client: Client, queue: Queue
) -> None:
    client.force_login(make_staff(*REVIEWER, name="blind"))
    for address in (
        links.list_page(Review, tenant="acme"),
        links.row_page(poisoned(queue)),
        links.row_page(poisoned(queue), "reject"),
    ):
        page = client.get(address).text
        assert "previous instructions" not in page
    client.force_login(make_staff(*READER, name="reader"))
    assert "previous instructions" in client.get(links.row_page(poisoned(queue))).text


def test_what_is_withheld_for_another_reason_stays_so(
    root: Client, queue: Queue
) -> None:
    Record.objects.filter(id=queue.proposal.id).update(
        visible=False, revoked_at=timezone.now()
    )
    row = proposal(queue)
    for page in (
        root.get(links.row_page(row)),
        root.get(links.list_page(Review, tenant="acme")),
        root.get(links.row_page(Fact.objects.get(id=row.record_id))),
    ):
        assert "Ada lives in tea" not in page.text
    ask = root.get(links.row_page(row, "accept")).text
    assert "nobody here can vouch" in ask
    assert "nobody here can vouch" in decide(root, row, "accept").text
    assert acceptance(row.record_id) == "proposal"


def test_pages_lead_through_the_queue_as_it_was_narrowed(
    root: Client, queue: Queue
) -> None:
    first, second = Review.objects.filter(why="proposal").order_by("opened_at", "id")
    page = root.get(links.row_page(first) + "?why=proposal")
    assert page.context["previous"] == ""
    assert page.context["next"] == links.row_page(second) + "?why=proposal"
    page = root.get(links.row_page(second) + "?why=proposal")
    assert page.context["previous"] == links.row_page(first) + "?why=proposal"
    assert page.context["next"] == ""
    assert root.get(links.row_page(second)).context["next"]


# -- decisions


def test_accepted_once_its_effect_was_shown(client: Client, queue: Queue) -> None:
    """B309."""
    user = make_staff(*REVIEWER)
    client.force_login(user)
    row = queue.review(queue.rival, "proposal")
    ask = client.get(links.row_page(row, "accept")).text
    assert "takes the place of the claim" in ask
    decide(client, row, "accept", " ")
    assert acceptance(queue.rival.id) == "proposal"
    answer = decide(client, row, "accept")
    assert "Accepted." in answer.text
    at = answer.request["PATH_INFO"]
    assert str(row.id) not in at, "it goes on to what waits next"
    assert "/review/" in at
    row.refresh_from_db()
    assert (row.decision, row.actor) == ("accepted", f"user:{user.pk}")
    assert Fact.objects.get(id=queue.settled.id).closing == "superseded"
    event = AuditEvent.objects.get(action="fact.accept")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "read it")


def test_rejected(root: Client, queue: Queue) -> None:
    decide(root, proposal(queue), "reject")
    assert Fact.objects.get(id=queue.proposal.id).closing == "retracted"
    decide(root, poisoned(queue), "reject")
    assert Fact.objects.get(id=queue.poisoned.id).closing == "forgotten"
    record = queue.review(queue.record, "quarantined")
    decide(root, record, "reject")
    assert gate(record.record_id) == "quarantined"
    decisions = Review.objects.exclude(decision="").values_list("decision", flat=True)
    assert set(decisions) == {"rejected"}


def test_validated_only_by_its_words(root: Client, queue: Queue) -> None:
    """B411, B412."""
    row = poisoned(queue)
    assert "Rules match still" in root.get(links.row_page(row, "validate")).text
    assert "Rules match still" in decide(root, row, "validate").text
    assert gate(row.record_id) == "quarantined"
    decide(root, proposal(queue), "quarantine", "looked odd")
    held = queue.review(queue.proposal, "quarantined")
    assert "Validated." in decide(root, held, "validate").text
    assert gate(held.record_id) == "open"
    assert acceptance(held.record_id) == "proposal"


def test_forced_with_a_permission_of_its_own(client: Client, queue: Queue) -> None:
    """B413."""
    row = poisoned(queue)
    client.force_login(make_staff(*READER, name="reader"))
    assert links.row_page(row, "force") not in client.get(links.row_page(row)).text
    assert decide(client, row, "force").status_code == 403
    assert gate(row.record_id) == "quarantined"
    client.force_login(make_staff(*READER, "force_record", name="boss"))
    assert links.row_page(row, "force") in client.get(links.row_page(row)).text
    decide(client, row, "force")
    assert gate(row.record_id) == "open"
    row.refresh_from_db()
    assert row.decision == "forced"
    assert AuditEvent.objects.get(action="memory.validate").detail["forced"] is True


@pytest.mark.parametrize(
    ("deed", "verdict"),
    [("keep", "admit"), ("replace", "supersede"), ("same", "dedup")],
)
def test_a_conflict_is_settled(
    root: Client, queue: Queue, deed: str, verdict: str
) -> None:
    """B432."""
    row = queue.review(queue.conflict, "conflict")
    (rival,) = root.get(links.row_page(row)).context["rivals"]
    assert str(rival.title) == "The nearest older claim"
    decide(root, row, deed)
    met = ConflictDecision.objects.get(fact_id=queue.conflict.id)
    assert met.settled_as == verdict
    row.refresh_from_db()
    assert row.decided_at is not None


def test_of_two_reviewers_one_is_told_that_the_other_was_quicker(
    client: Client, queue: Queue
) -> None:
    users = [get_user_model().objects.create_superuser(name) for name in ("ann", "ben")]
    ann, ben = Client(), Client()
    for browser, user in zip((ann, ben), users, strict=True):
        browser.force_login(user)
        ask = browser.get(links.row_page(proposal(queue), "accept"))
        assert "Agents may rely on it" in ask.text
    decide(ann, proposal(queue), "accept")
    told = decide(ben, proposal(queue), "reject").text
    assert f"decided already: accepted, by user:{users[0].pk}." in told
    assert acceptance(queue.proposal.id) == "accepted"
    assert Fact.objects.get(id=queue.proposal.id).closing == ""
    deeds = AuditEvent.objects.filter(target=f"record:{queue.proposal.id}")
    assert [e.action for e in deeds.order_by("id")] == ["fact.assert", "fact.accept"]


def test_a_reviewer_who_is_overtaken_while_deciding_changes_nothing(
    root: Client, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page saw it waiting; by the time of the verb it is decided."""
    row = proposal(queue)
    decide(root, row, "accept")
    monkeypatch.setattr("prism_memory.admin.deciding.DEEDS", _unasked())
    told = decide(root, row, "reject").text
    assert "It was accepted already." in told
    assert Fact.objects.get(id=row.record_id).closing == ""


def _unasked() -> dict[str, Any]:
    """Return the deeds as they were before somebody was quicker."""
    return {n: replace(deed, why_not=lambda _item: "") for n, deed in DEEDS.items()}


@pytest.mark.parametrize(
    "deed", ["accept", "validate", "force", "reject", "keep", "quarantine"]
)
def test_each_deed_needs_its_permission(
    client: Client, queue: Queue, deed: str
) -> None:
    client.force_login(make_staff("view_review", "reveal_record", "change_fact"))
    row = proposal(queue)
    page = client.get(links.row_page(row))
    assert page.status_code == 200
    assert page.context["buttons"] == []
    assert client.get(links.row_page(row, deed)).status_code == 403
    assert decide(client, row, deed).status_code == 403
    assert many(client, "accept", [row], do="1", reason="x").status_code == 403
    assert acceptance(queue.proposal.id) == "proposal"


# -- several at once


def test_a_preview_tells_which_of_the_chosen_can_be_decided(
    root: Client, queue: Queue
) -> None:
    rows = list(Review.objects.filter(tenant="acme"))
    ask = many(root, "accept", rows)
    assert "2 of 5 are decided so." in ask.text
    assert "The others stay as they are." in ask.text
    (table,) = ask.context["ask_sections"]
    happens = [str(row[2]) for row in table.rows]
    assert sum("Agents may rely on it" in one for one in happens) == 2
    assert "It does not wait as a proposal." in ask.text
    kept_ids = {value for name, value in ask.context["ask"].kept if name == "ids"}
    assert kept_ids == {str(r.id) for r in rows if r.why == "proposal"}
    assert acceptance(queue.proposal.id) == "proposal"
    done = many(root, "accept", rows, do="1", reason="asked")
    assert "2 were decided." in done.text
    assert Review.objects.filter(decision="accepted").count() == 2
    assert AuditEvent.objects.filter(action="fact.accept", reason="asked").count() == 2


def test_nothing_fits_and_nothing_is_done(root: Client, queue: Queue) -> None:
    ask = many(root, "validate", [poisoned(queue)], do="1", reason="x").text
    assert "None of them can be decided so." in ask
    assert "Rules match still" in ask
    assert gate(queue.poisoned.id) == "quarantined"
    assert "Choose 1 to 100" in many(root, "accept", []).text


def test_what_somebody_else_decided_meanwhile_is_told_of_each(
    root: Client, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(Review.objects.filter(why="proposal"))
    decide(root, rows[0], "accept")
    monkeypatch.setattr("prism_memory.admin.deciding_many.DEEDS", _unasked())
    told = many(root, "accept", rows, do="1", reason="asked").text
    assert "1 was decided." in told
    assert "It was accepted already." in told


# -- around


def test_a_record_leads_to_its_fact_and_its_review(root: Client, queue: Queue) -> None:
    record = Record.objects.get(id=queue.proposal.id)
    page = root.get(links.row_page(record)).text
    fact = Fact.objects.get(id=record.id)
    assert links.row_page(fact) in page
    assert links.row_page(proposal(queue)) in page
    back = root.get(links.row_page(fact)).text
    assert links.row_page(record) in back
    assert links.row_page(proposal(queue)) in back


def test_a_plain_record_is_held_back_from_its_page(
    client: Client, queue: Queue
) -> None:
    record = Record.objects.filter(kind="entry", gate="open").first()
    assert record is not None
    client.force_login(make_staff("view_record", name="looker"))
    assert client.get(links.row_page(record, "quarantine")).status_code == 403
    client.force_login(make_staff("view_record", "change_record", name="changer"))
    told = client.post(
        links.row_page(record, "quarantine"), {"reason": "odd"}, follow=True
    )
    assert "It is held back" in told.text
    assert gate(record.id) == "quarantined"
    assert Review.objects.filter(record=record.id, why="quarantined").exists()


def test_no_page_says_a_word_of_what_was_forgotten(root: Client, queue: Queue) -> None:
    """B416."""
    decide(root, poisoned(queue), "reject")
    fact = Fact.objects.get(id=queue.poisoned.id)
    for page in (
        root.get(links.row_page(fact)),
        root.get(links.row_page(poisoned(queue))),
        root.get(links.list_page(Fact, tenant="acme")),
        root.get(links.list_page(Review, tenant="acme", state="any")),
    ):
        assert "Ada is kind" not in page.text
        assert "forgotten" in page.text.lower()


def test_every_statement_of_every_page_and_deed_names_the_tenant(
    root: Client, queue: Queue
) -> None:
    pages = [
        links.list_page(Review, tenant="acme", **wish)
        for wish in ({}, {"age": "hour", "trust": "tool"}, {"state": "any", "end": "1"})
    ]
    pages += [links.row_page(row) for row in Review.objects.all()]
    pages += [links.row_page(proposal(queue), deed) for deed in DEEDS_HERE]
    for address in pages:
        with tenant_in_every_statement("acme"):
            assert root.get(address).status_code == 200, address
    for row, deed in (
        (proposal(queue), "quarantine"),
        (proposal(queue), "accept"),
        (poisoned(queue), "force"),
        (queue.review(queue.record, "quarantined"), "reject"),
        (queue.review(queue.conflict, "conflict"), "keep"),
    ):
        with tenant_in_every_statement("acme"):
            decide(root, row, deed)
        row.refresh_from_db()
        assert row.decision or deed == "quarantine", deed
    rows = list(Review.objects.all())
    with tenant_in_every_statement("acme"):
        many(root, "accept", rows, do="1", reason="x")


def test_looking_needs_the_reviews_own_permission(client: Client, queue: Queue) -> None:
    """B502."""
    row = proposal(queue)
    client.force_login(make_staff("view_record", "view_fact", "change_fact"))
    for address in (
        links.list_page(Review, tenant="acme"),
        links.row_page(row),
        links.row_page(row, "history"),
        links.row_page(row, "accept"),
    ):
        assert client.get(address).status_code == 403
    fact = Fact.objects.get(id=row.record_id)
    assert links.row_page(row) not in client.get(links.row_page(fact)).text
    for name in ("delete", "change"):
        assert client.post(links.row_page(fact, name), {"post": "yes"}).status_code in {
            *(200, 403)
        }
    assert client.get(links.page(Review, "add")).status_code == 403
    assert Fact.objects.filter(id=fact.id).exists()


def test_the_history_of_a_review_is_its_records_audit(
    root: Client, queue: Queue
) -> None:
    answer = root.get(links.row_page(proposal(queue), "history"), follow=True)
    (event,) = answer.context["window"].rows
    assert event.action == "fact.assert"


def test_a_held_claim_is_not_said_to_be_forgotten(root: Client, queue: Queue) -> None:
    """The page tells what the verb would: a hold keeps it."""
    row = queue.review(queue.poisoned, "quarantined")
    make_memory().hold(record=queue.poisoned.id)
    asked = root.get(links.row_page(row, "reject")).text
    assert "A legal hold keeps it." in asked
    assert "is forgotten" not in asked


def test_of_several_what_was_decided_meanwhile_is_told(
    root: Client, queue: Queue
) -> None:
    rows = [*Review.objects.filter(tenant="acme", why="proposal")]
    make_memory().facts.decide(rows[0].id, ReviewAction.ACCEPT)
    done = many(root, "accept", rows, do="1", reason="read")
    assert "It was decided already" in done.text
    waiting = Review.objects.filter(why="proposal", decided_at=None)
    assert not waiting.filter(record_id=queue.proposal.id).exists()
    assert not waiting.exists()
