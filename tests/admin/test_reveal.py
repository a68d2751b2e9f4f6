"""B502: withheld words are shown once, to those who may, and the audit knows."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from prism_memory import audit
from prism_memory.admin import links
from prism_memory.models import AuditEvent, Record
from tests.admin.rows import make_staff
from tests.factories import make_record

pytestmark = pytest.mark.django_db

SECRET = "zanzibar"
REASON = {"reason": "ticket 4711"}


@pytest.fixture
def record() -> Record:
    return make_record(
        f"{SECRET} <script>\u200b",
        gate="quarantined",
        gate_markers=["rule"],
        fields={"metadata": {"m": SECRET}},
    )


def login(client: Client, *permissions: str) -> Any:
    user = make_staff(*permissions)
    client.force_login(user)
    return user


def test_a_reveal_shows_the_words_and_is_audited(
    client: Client, record: Record
) -> None:
    user = login(client, "view_record", "reveal_record")
    assert "Reveal once" in client.get(links.row_page(record)).text
    answer = client.post(links.row_page(record, "reveal"), REASON)
    assert answer.text.count(SECRET) == 2
    assert "rule" in answer.text
    assert "&lt;script&gt;" in answer.text
    assert "U+200B" in answer.text
    assert {"no-store", "private"} <= set(answer["Cache-Control"].split(", "))
    event = AuditEvent.objects.get(tenant="acme")
    assert (event.action, event.actor) == ("record.reveal", f"user:{user.pk}")
    assert event.target == f"record:{record.id}"
    assert event.reason == "ticket 4711"
    assert SECRET not in str(event.detail)
    assert SECRET not in client.get(links.row_page(record)).text


def test_without_the_permission_nothing_is_revealed(
    client: Client, record: Record
) -> None:
    login(client, "view_record", "change_record")
    assert "Reveal once" not in client.get(links.row_page(record)).text
    answer = client.post(links.row_page(record, "reveal"), REASON)
    assert answer.status_code == 403
    assert SECRET not in answer.text
    assert not AuditEvent.objects.filter(tenant="acme").exists()


def test_revealing_needs_the_permission_to_view_too(
    client: Client, record: Record
) -> None:
    login(client, "reveal_record")
    assert client.post(links.row_page(record, "reveal"), REASON).status_code == 403


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "a\0b"])
def test_a_reveal_needs_a_reason(root: Client, record: Record, reason: str) -> None:
    answer = root.post(links.row_page(record, "reveal"), {"reason": reason})
    assert answer.status_code == 400
    assert SECRET not in answer.text
    assert "Reveal once" in answer.text
    assert not AuditEvent.objects.filter(tenant="acme").exists()


def test_a_reveal_is_no_link(root: Client, record: Record) -> None:
    answer = root.get(links.row_page(record, "reveal"))
    assert answer.status_code == 302
    assert not AuditEvent.objects.filter(tenant="acme").exists()


def test_a_reveal_needs_the_forms_token(record: Record) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make_staff("view_record", "reveal_record"))
    answer = client.post(links.row_page(record, "reveal"), REASON)
    assert answer.status_code == 403
    assert SECRET not in answer.text


def test_no_words_without_the_audit(
    root: Client, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**given: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(audit, "record", fail)
    root.raise_request_exception = False
    answer = root.post(links.row_page(record, "reveal"), REASON)
    assert answer.status_code == 500
    assert SECRET not in answer.text


@pytest.mark.django_db(transaction=True)
def test_the_event_is_there_when_the_words_are_sent(
    root: Client, record: Record
) -> None:
    answer = root.post(links.row_page(record, "reveal"), REASON)
    assert SECRET in answer.text
    assert AuditEvent.objects.filter(tenant="acme", action="record.reveal").exists()


def test_another_tenants_record_is_not_revealed(root: Client, record: Record) -> None:
    address = links.page(Record, "reveal", f"{record.id}~globex")
    assert root.post(address, REASON).status_code == 404
