"""The pages about seals."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from prism_memory import governance
from prism_memory.admin import links
from prism_memory.models import AuditEvent, AuditSeal, Record
from prism_memory.types import Actor
from tests.factories import NOON, make_record, remember_one
from tests.governance.trail import GONE, KEYS, act, run, seal

pytestmark = pytest.mark.django_db


def listed(root: Client, **wish: Any) -> str:
    return root.get(links.list_page(AuditSeal, **(wish or {"tenant": "acme"}))).text


def use(settings: Any, keys: dict[str, str]) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "INTEGRITY_KEYS": keys}


def test_lists_seals_newest_first(root: Client) -> None:
    for _ in range(2):
        act(3)
        seal()
    page = listed(root)
    assert page.index("/" + _address(2)) < page.index("/" + _address(1))
    assert "not signed" in page
    assert AuditSeal.objects.get(number=2).sha256.hex()[:16] in page


def _address(number: int) -> str:
    row = AuditSeal.objects.get(tenant="acme", number=number)
    return links.row_page(row).lstrip("/")


def test_leads_to_the_events_under_a_seal(root: Client) -> None:
    act(2)
    seal()
    act(1, at=NOON + GONE)
    address = links.list_page(AuditEvent, tenant="acme", seal=1)
    assert address.replace("&", "&amp;") in listed(root)
    rows = root.get(address).context["window"].rows
    assert [row.seal for row in rows] == [1, 1]
    assert "Under seal" in root.get(links.row_page(rows[0])).text


def test_says_whether_a_seal_is_signed(root: Client, settings: Any) -> None:
    use(settings, KEYS)
    act(1)
    seal()
    assert ">signed<" in listed(root)
    run("UPDATE prism_memory_auditseal SET mac = sha256('x')")
    assert "signature is not its own" in listed(root)
    use(settings, {"k2": "another secret of thirty-two bytes or more"})
    assert "signed by a key not known here" in listed(root)
    use(settings, {})
    assert ">signed<" in listed(root)


def test_says_what_was_found_pruned_and_sealed(root: Client) -> None:
    remember_one()
    act(1)
    seal(content=True)
    run("DELETE FROM prism_memory_embedding")
    run("DELETE FROM prism_memory_record")
    seal(content=True)
    governance.prune(
        using="default",
        tenant="acme",
        older_than_days=1,
        actor=Actor(),
        at=NOON + GONE,
    )
    page = listed(root)
    assert "events pruned" in page
    assert "records sealed" in page
    row = AuditSeal.objects.get(tenant="acme", number=2)
    assert row.violations == 1
    detail = root.get(links.row_page(row)).text
    assert row.sha256.hex() in detail
    assert row.content is not None
    assert row.content.hex() in detail


def test_the_installation_has_seals_of_its_own(root: Client) -> None:
    act(1, tenant="")
    seal("")
    page = listed(root, installation="1")
    assert AuditSeal.objects.get().sha256.hex()[:16] in page
    assert "pm-empty" in listed(root)


def test_an_event_can_be_edited_by_nobody(root: Client) -> None:
    """B503: nor deleted, by any address that Django's admin has."""
    act(1)
    row = AuditEvent.objects.get(tenant="acme")
    before = AuditEvent.objects.values().get(tenant="acme")
    for name in ("change", "delete"):
        root.post(
            links.row_page(row, name),
            {"post": "yes", "actor": "x", "action": "x", "target": "x", "reason": "x"},
        )
    root.post(
        links.list_page(AuditEvent, tenant="acme"),
        {"action": "delete_selected", "_selected_action": [links.object_id(row)]},
    )
    assert AuditEvent.objects.values().get(tenant="acme") == before


def test_an_edited_record_is_withheld_and_says_why(root: Client, settings: Any) -> None:
    use(settings, KEYS)
    good = make_record("Ada drinks tea.")
    bad = make_record("Ada drinks water.", fields={"key": "edited"})
    run("UPDATE prism_memory_record SET text = 'zanzibar' WHERE key = 'edited'")
    address = links.list_page(Record, tenant="acme", scope=good.scope_id)
    page = root.get(address).text
    assert "Ada drinks tea." in page
    assert "zanzibar" not in page
    assert page.count("signature is not its own") == 1
    page = root.get(links.row_page(bad)).text
    assert "zanzibar" not in page
    assert "signature is not its own" in page
    assert "zanzibar" not in root.get(links.row_page(bad, "correct")).text
    use(settings, {})
    assert "signature is not its own" not in root.get(address).text
