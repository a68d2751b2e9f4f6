"""C36: erase a scope or a source, with its effect, its name and a reason."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.governance import erasure
from prism_memory.models import (
    AuditEvent,
    ErasureReceipt,
    LegalHold,
    Record,
    Run,
    Source,
)
from prism_memory.types import Actor, Entry, Lineage, SourceRef
from tests.admin.rows import make_receipt, make_staff, scope_row
from tests.factories import make_memory, make_scope, remember_one
from tests.governance.erasing import erase, furnish
from tests.governance.stored import run_export, storages

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
    assert "Gone for good: 1 record, 1 vector." in ask
    assert "Holds keep 1 record." in ask
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


def test_the_effect_tells_all_that_goes(
    root: Client, settings: Any, tmp_path: Any
) -> None:
    settings.STORAGES = storages(tmp_path)
    furnish(make_scope(), "word")
    run_export(make_memory(make_scope(thread="", agent="")))
    ask = root.get(links.row_page(scope_row(), "erase")).text
    words = ("3 records", "3 vectors", "1 source", "1 scope", "1 share", "1 access key")
    for told in (*words, "1 trace of a recall", "1 export."):
        assert told in ask, told


def test_a_source_whose_derived_record_is_beside_says_so(root: Client) -> None:
    first = remember_one("Ada's secret.", source=SourceRef("session-1"))
    make_memory().remember(Entry("of it", lineage=Lineage((f"record:{first}",))))
    ask = root.get(links.row_page(Source.objects.get(), "erase")).text
    assert "1 of the records is no part of it: it derives from what goes." in ask


def test_run_receipt_and_audit_lead_to_each_other_and_to_what_is_there(
    root: Client,
) -> None:
    record_id = remember_one("Kept.")
    hold = make_memory().hold(record=record_id)
    row = scope_row()
    post(root, row, "chat-1")
    run = Run.objects.get(kind="erase")
    page = links.row_page(run)
    assert links.row_page(row) in root.get(page).text
    erasure.resume_erasure(using="default", tenant="acme", run_id=run.id)
    receipt = ErasureReceipt.objects.get(run_id=run.id)
    assert links.row_page(receipt) in root.get(page).text
    assert links.row_page(row) in root.get(links.row_page(receipt)).text
    event = AuditEvent.objects.get(action="memory.erase")
    assert links.row_page(row) in root.get(links.row_page(event)).text
    make_memory().release(hold.id)
    erase(row.value)
    assert links.row_page(row) not in root.get(links.row_page(receipt)).text


def test_receipts_have_a_tab_and_a_hold_leads_to_its_reason(root: Client) -> None:
    make_memory().hold(record=remember_one("Kept."), reason="court")
    hold = LegalHold.objects.get()
    text = root.get(links.row_page(hold)).text
    assert links.list_page(ErasureReceipt, tenant="acme") in text
    assert "in the audit" in text
