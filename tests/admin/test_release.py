"""The two ways out of a forgetting that keeps the body: the effect first."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import AuditEvent, Record, Tombstone
from prism_memory.types import Lineage
from tests.admin.rows import make_staff
from tests.factories import make_memory, make_record

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-4711"


@pytest.fixture
def record() -> Record:
    record = make_record(SECRET, fields={"key": "move"})
    made = {"key": "home", "lineage": Lineage(("move",))}
    make_record(f"of {SECRET}", fields=made)
    make_memory().forget(record.id, hold=True)
    return record


def address(record: Record, *, restore: bool) -> str:
    return links.row_page(record, "release") + f"?restore={restore:d}"


def release(client: Client, record: Record, *, restore: bool, **given: str) -> Any:
    values = {"restore": f"{restore:d}", "reason": "asked", **given}
    return client.post(links.row_page(record, "release"), values, follow=True)


def test_its_page_says_so_and_leads_out(root: Client, record: Record) -> None:
    page = root.get(links.row_page(record)).text
    assert "It was forgotten, and is hidden and kept" in page
    for restore in (False, True):
        assert address(record, restore=restore) in page


def test_what_derives_from_it_leads_there(root: Client, record: Record) -> None:
    page = root.get(links.row_page(Record.objects.get(key="home"))).text
    assert "what it derives from was forgotten so" in page
    assert links.row_page(record) in page
    assert "release/" not in page


def test_forgotten_for_good_once_asked(client: Client, record: Record) -> None:
    user = make_staff("view_record", "delete_record")
    client.force_login(user)
    ask = client.get(address(record, restore=False)).text
    assert "This also deletes 1 record derived from it" in ask
    assert SECRET not in ask
    assert Record.objects.count() == 2
    release(client, record, restore=False, reason=" ")
    assert Record.objects.count() == 2
    assert "2 records were deleted" in release(client, record, restore=False).text
    assert not Record.objects.exists()
    event = AuditEvent.objects.get(action="memory.release_forgotten")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "asked")


def test_shown_again_once_asked(root: Client, record: Record) -> None:
    ask = root.get(address(record, restore=True)).text
    assert "This also ends it for 1 record derived from it." in ask
    assert not make_memory().list().items
    assert "no longer hidden by it" in release(root, record, restore=True).text
    assert len(make_memory().list().items) == 2
    page = root.get(links.row_page(record)).text
    assert "release/" not in page
    assert "No forgetting keeps it." in release(root, record, restore=True).text


@pytest.mark.parametrize("level", ["record", "scope"])
def test_another_hold_is_told(root: Client, record: Record, level: str) -> None:
    make_memory().hold(record=record.id if level == "record" else None)
    assert "Another hold keeps it" in root.get(address(record, restore=False)).text
    release(root, record, restore=False)
    assert Record.objects.count() == 2
    assert Tombstone.objects.filter(cleared_at=None, hold=True).exists()


def test_each_way_needs_its_permission(client: Client, record: Record) -> None:
    """To show words to all who may look needs the right to see them."""
    client.force_login(make_staff("view_record", "change_record"))
    assert "release/" not in client.get(links.row_page(record)).text
    assert release(client, record, restore=False).status_code == 403
    client.force_login(make_staff("view_record", "delete_record", name="dee"))
    page = client.get(links.row_page(record)).text
    assert address(record, restore=False) in page
    assert address(record, restore=True) not in page
    assert release(client, record, restore=True).status_code == 403
    assert Tombstone.objects.filter(cleared_at=None, hold=True).exists()


@pytest.mark.parametrize("wish", ["", "?restore=2"])
def test_which_way_must_be_said(root: Client, record: Record, wish: str) -> None:
    assert root.get(links.row_page(record, "release") + wish).status_code == 404
