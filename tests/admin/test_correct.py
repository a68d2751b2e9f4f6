"""C36: give one record other words."""

from __future__ import annotations

import uuid

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import AuditEvent, LegalHold, Record
from prism_memory.types import Consent, Lineage
from tests.admin.rows import make_staff
from tests.factories import NOON, make_edge, make_memory, make_record

pytestmark = pytest.mark.django_db

OLD, NEW = "Ada lives in Lisbon.", "Ada lives in Porto."


def texts() -> set[str]:
    return {item.text for item in make_memory().list()}


def send(client: Client, record: Record, text: str = NEW, reason: str = "asked"):
    given = {"text": text, "reason": reason}
    return client.post(links.row_page(record, "correct"), given, follow=True)


@pytest.fixture
def record() -> Record:
    record = make_record(OLD, fields={"key": "home"})
    make_record("She likes trams.", fields={"lineage": Lineage(("home",))})
    return record


def test_it_shows_its_effect_and_then_takes_it(client: Client, record: Record) -> None:
    """case_C36."""
    user = make_staff("view_record", "change_record")
    client.force_login(user)
    assert "Correct" in client.get(links.row_page(record)).text
    ask = client.get(links.row_page(record, "correct")).text
    assert "This also blocks 1 record derived from it." in ask
    assert OLD in ask
    assert texts() == {OLD, "She likes trams."}
    done = send(client, record)
    assert "The record was corrected." in done.text
    assert texts() == {NEW}
    event = AuditEvent.objects.get(tenant="acme")
    assert (event.action, event.actor) == ("memory.correct", f"user:{user.pk}")
    assert event.reason == "asked"


def test_looking_at_the_question_changes_nothing(root: Client, record: Record) -> None:
    root.get(links.row_page(record, "correct") + f"?text={NEW}&reason=x")
    assert texts() == {OLD, "She likes trams."}
    assert not AuditEvent.objects.filter(tenant="acme").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "asked"), (" ", "asked"), (NEW, " "), ("x" * 16_385, "asked")],
)
def test_what_is_not_acceptable_is_asked_again(
    root: Client, record: Record, text: str, reason: str
) -> None:
    answer = send(root, record, text, reason)
    assert answer.status_code == 200
    assert "errorlist" in answer.text
    assert texts() == {OLD, "She likes trams."}


def test_the_same_words_change_nothing_and_it_says_so(
    root: Client, record: Record
) -> None:
    assert "nothing was changed" in send(root, record, OLD).text
    assert not AuditEvent.objects.filter(tenant="acme").exists()


def test_lines_end_as_they_were_written(root: Client, record: Record) -> None:
    """A form sends CR LF for what is LF in memory."""
    send(root, record, "one\r\n  two ")
    assert texts() == {"one\n  two "}


def test_words_that_are_withheld_are_not_shown(root: Client, record: Record) -> None:
    """B502: a form must not reveal them."""
    Record.objects.filter(tenant="acme", id=record.id).update(gate="quarantined")
    ask = root.get(links.row_page(record, "correct")).text
    assert "Lisbon" not in ask
    assert "is withheld" in ask
    send(root, record)
    assert Record.objects.get(tenant="acme", id=record.id).text == NEW


def test_a_configured_secret_is_not_shown(
    root: Client, record: Record, settings
) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"SECRETS": ["Lisbon"]}
    ask = root.get(links.row_page(record, "correct")).text
    assert "Lisbon" not in ask
    assert "[redacted]" in ask


def test_a_revoked_one_is_refused(root: Client, record: Record) -> None:
    """B150."""
    make_memory().set_consent(record.id, visible=False)
    row = Record.objects.select_related("scope").get(tenant="acme", id=record.id)
    assert "/correct/" not in root.get(links.row_page(row)).text
    assert "is revoked" in root.get(links.row_page(row, "correct")).text
    assert "cannot be corrected" in send(root, row).text
    assert Record.objects.get(tenant="acme", id=record.id).text == OLD


def test_a_held_one_is_refused(root: Client, record: Record) -> None:
    """B150."""
    LegalHold.objects.create(
        tenant="acme",
        level="scope",
        target_ref=f"scope:{uuid.uuid4()}",
        owner="ada",
        placed_by="system",
        placed_at=NOON,
    )
    assert "under a hold" in root.get(links.row_page(record, "correct")).text
    assert "cannot be corrected" in send(root, record).text
    assert OLD in texts()


def test_too_much_lineage_is_refused(root: Client, record: Record) -> None:
    last = record
    for i in range(9):
        row = make_record(f"Step {i}.")
        make_edge(row, last)
        last = row
    ask = root.get(links.row_page(record, "correct")).text
    assert "cannot be corrected here" in ask
    assert "<textarea" not in ask
    send(root, record)
    assert OLD in texts()


def test_it_needs_the_permission_to_change(client: Client, record: Record) -> None:
    client.force_login(make_staff("view_record", "reveal_record"))
    assert "/correct/" not in client.get(links.row_page(record)).text
    assert client.get(links.row_page(record, "correct")).status_code == 403
    assert send(client, record).status_code == 403
    assert OLD in texts()


def test_another_tenants_page_is_none(root: Client, record: Record) -> None:
    """B25."""
    page = links.row_page(record, "correct").replace("acme", "globex")
    assert root.get(page).status_code == 404
    assert root.post(page, {"text": NEW, "reason": "x"}).status_code == 404
    assert OLD in texts()


def test_the_record_page_lists_each_decision_the_latest_first(
    root: Client,
) -> None:
    """case_C36."""
    record = make_record(OLD, fields={"consent": Consent(scope="profile")})  # type: ignore[arg-type]
    make_memory().set_consent(record.id, visible=False)
    make_memory().set_consent(record.id, visible=True)
    page = root.get(links.row_page(record)).text
    section = page.partition("Decisions about its consent")[2].partition("</section>")[
        0
    ]
    assert section.count("<tr>") == 4
    assert section.index("granted") < section.index("revoked")
    assert "profile" in section.lower()


def test_a_record_without_decisions_says_so(root: Client, record: Record) -> None:
    assert "None yet" in root.get(links.row_page(record)).text
