"""Share records of a thread: the effect first, then the deed, with a reason."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.models import AuditEvent, Record, ShareGrant, ShareGrantItem
from tests.admin.rows import make_staff, scope_row
from tests.factories import make_memory, make_record, make_scope

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-4711"


@pytest.fixture
def record() -> Record:
    return make_record(SECRET, fields={"key": "move"})


def address() -> str:
    return links.row_page(scope_row(), "share")


def given(record: Record, **fields: str) -> dict[str, str]:
    base = {"thread": "chat-2", "agent": "support", "records": "move\n", "reason": "x"}
    return base | fields


def share(client: Client, fields: dict[str, str]) -> Any:
    looked = client.post(address(), fields).text
    seen = re.search(r'name="seen" value="([^"]+)"', looked)
    assert seen, looked
    value = html.unescape(seen[1])
    return client.post(address(), {**fields, "seen": value}, follow=True)


def test_shared_once_its_effect_was_shown(client: Client, record: Record) -> None:
    """B163."""
    user = make_staff("view_scope", "add_sharegrant", "view_sharegrant")
    client.force_login(user)
    assert address() in client.get(links.row_page(scope_row())).text
    looked = client.post(address(), given(record)).text
    assert "It recalls 1 record of this thread." in looked
    assert SECRET not in looked
    client.post(address(), {**given(record), "seen": "something else"})
    assert not ShareGrant.objects.exists()
    assert "The records are shared." in share(client, given(record)).text
    assert [*ShareGrantItem.objects.values_list("record_id")] == [(record.id,)]
    event = AuditEvent.objects.get(action="memory.share")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "x")


def test_what_is_replaced_is_told(root: Client, record: Record) -> None:
    make_memory().share_with("chat-2", [record.id])
    other = make_record("another")
    fields = given(record, records=str(other.id))
    looked = root.post(address(), fields).text
    assert "1 that was shared with it before is shared no more" in looked
    share(root, fields)
    assert [*ShareGrantItem.objects.values_list("record_id")] == [(other.id,)]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"thread": "chat-1"}, "does not share with itself"),
        ({"thread": ""}, "This field is required"),
        ({"reason": " "}, "This field is required"),
        ({"records": "nothing"}, "no record of this thread"),
        ({"records": "\n".join(map(str, range(40)))}, "no record of this thread"),
        ({"expires_at": "2020-01-01T00:00"}, "must be in the future"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(
    root: Client, record: Record, fields: dict[str, str], words: str
) -> None:
    answer = root.post(address(), given(record, **fields))
    assert words in answer.text
    assert not ShareGrant.objects.exists()


def test_what_is_withheld_is_as_what_is_not_there(root: Client, record: Record) -> None:
    make_memory().set_consent(record.id, visible=False)
    for records in ("move", "nowhere"):
        told = root.post(address(), given(record, records=records)).text
        assert "no record of this thread that is in sight" in told
    done = share(root, given(record, records=str(record.id)))
    assert "no record of this thread that is in sight" in done.text
    assert not ShareGrant.objects.exists()


def test_where_consent_is_required_it_is_here_too(
    root: Client, record: Record, settings: Any
) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "REQUIRE_CONSENT": True}
    Record.objects.update(visible=None)
    assert "in sight" in root.post(address(), given(record)).text
    assert "in sight" in share(root, given(record, records=str(record.id))).text
    assert not ShareGrant.objects.exists()


def test_a_name_hides_nothing(root: Client, record: Record) -> None:
    looked = root.post(address(), given(record, thread="<b>x\u202e")).text
    assert "It recalls 1 record" in looked
    assert "<b>x" not in looked
    assert looked.count("\u202e") == 1  # in the field itself, as it was typed


def test_more_than_32_are_refused(root: Client, record: Record) -> None:
    ids = "\n".join(f"0198c0de-0000-7000-8000-0000000000{n:02d}" for n in range(33))
    answer = root.post(address(), given(record, records=ids))
    assert "at most 32 records" in answer.text


def test_only_a_thread_shares(root: Client, record: Record) -> None:
    make_record("b", scope=make_scope(thread=""))
    row = scope_row(make_scope(thread=""))
    assert "Share records" not in root.get(links.row_page(row)).text
    assert root.get(links.row_page(row, "share")).status_code == 404


def test_it_needs_the_permission(client: Client, record: Record) -> None:
    client.force_login(make_staff("view_scope", "view_sharegrant"))
    assert "Share records" not in client.get(links.row_page(scope_row())).text
    assert client.get(address()).status_code == 403
    assert client.post(address(), given(record)).status_code == 403
