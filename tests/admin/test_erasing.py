"""C36: erase a scope or a source, with its effect, its name and a reason."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.governance import erasure
from prism_memory.models import AuditEvent, ErasureReceipt, Record, Run, Source
from prism_memory.types import Actor, SourceRef
from tests.admin.rows import make_receipt, make_staff, scope_row
from tests.factories import make_scope, remember_one

pytestmark = pytest.mark.django_db


def post(client: Client, row: Any, name: str, reason: str = "Request 12") -> Any:
    page = links.row_page(row, "erase")
    return client.post(page, {"name": name, "reason": reason}, follow=True)


def test_a_scope_is_erased_after_its_effect_its_name_and_a_reason(root: Client) -> None:
    """case_C36."""
    record_id = remember_one("Ada's secret.")
    remember_one("Another.")
    lifecycle.hold(
        using="default",
        scope=make_scope(),
        actor=Actor(),
        at=timezone.now(),
        record_id=record_id,
    )
    assert "Erase" in root.get(links.row_page(scope_row())).text
    ask = root.get(links.row_page(scope_row(), "erase")).text
    assert "1 records go for good" in ask
    assert "Holds keep 1 records" in ask
    assert "chat-1" in ask
    assert Record.objects.count() == 2
    done = post(root, scope_row(), "chat-1")
    assert "A worker erases it" in done.text
    run = Run.objects.get(kind="erase")
    erasure.resume_erasure(using="default", tenant="acme", run_id=run.id)
    assert Record.objects.count() == 1
    event = AuditEvent.objects.get(action="memory.erase_start")
    assert (event.reason, event.actor[:5]) == ("Request 12", "user:")


def test_a_source_is_erased_at_once_and_its_receipt_shown(root: Client) -> None:
    remember_one("Ada's secret.", source=SourceRef("session-1"))
    done = post(root, Source.objects.get(), "session-1")
    assert "It is erased" in done.text
    assert "<dt>Records</dt>" in done.text
    assert "session-1" not in done.text
    assert not Record.objects.exists()
    assert ErasureReceipt.objects.get().level == "source"


@pytest.mark.parametrize(
    ("name", "reason"), [("chat", "why"), ("Chat-1", "why"), ("chat-1", " "), ("", "a")]
)
def test_another_name_or_no_reason_erases_nothing(
    root: Client, name: str, reason: str
) -> None:
    remember_one("Ada's secret.")
    assert post(root, scope_row(), name, reason).status_code == 200
    assert not Run.objects.exists()
    assert Record.objects.count() == 1


def test_who_may_not_delete_sees_no_button_and_no_page(client: Client) -> None:
    remember_one("Ada's secret.", source=SourceRef("session-1"))
    client.force_login(make_staff("view_scope", "view_source"))
    for row in (scope_row(), Source.objects.get()):
        assert "Erase" not in client.get(links.row_page(row)).text
        assert client.get(links.row_page(row, "erase")).status_code == 403
        assert post(client, row, "chat-1").status_code == 403
    assert Record.objects.count() == 1


def test_receipts_are_listed_and_shown_and_never_changed(root: Client) -> None:
    receipt = make_receipt()
    listed = root.get(links.list_page(ErasureReceipt, tenant="acme")).text
    assert "owner" in listed
    shown = root.get(links.row_page(receipt)).text
    assert "<dt>Records</dt><dd>3</dd>" in shown
    root.post(links.row_page(receipt), {"found": "", "actor": "somebody"})
    receipt.refresh_from_db()
    assert (receipt.found, receipt.actor) == (True, "system")
