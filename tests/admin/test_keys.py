"""Access keys: shown once, revoked for good, never altered."""

from __future__ import annotations

import datetime as dt
import logging
import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.models import AccessKey, AuditEvent
from prism_memory.types import Authorization, Open, Permission, Scope, Trust
from tests.admin.rows import make_key, make_staff

pytestmark = pytest.mark.django_db

GIVEN: dict[str, Any] = {
    "label": "support bot",
    "tenant": "acme",
    "owner": " ada",
    "agent": "support",
    "thread": "",
    "permissions": ["read", "write"],
    "trust": "tool",
    "expires_at": "2099-01-02T03:04:05",
}
TOKEN = re.compile(r"pm_[0-9a-f]{32}_[\w-]{43}")
ADD = "/admin/prism_memory/accesskey/add/"


def test_a_token_is_shown_once_and_kept_nowhere(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    user = make_staff("add_accesskey", "view_accesskey")
    client.force_login(user)
    with caplog.at_level(logging.DEBUG):
        answer = client.post(ADD, GIVEN)
    (token,) = TOKEN.findall(answer.text)
    key = AccessKey.objects.get()
    grant = lifecycle.authenticate(using="default", token=token, at=timezone.now())
    assert grant is not None
    assert grant.scope == Scope("acme", " ada", "support")
    assert grant.permissions == {Permission.READ, Permission.WRITE}
    assert grant.origin.trust is Trust.TOOL
    assert grant.authorization is None
    assert key.expires_at == dt.datetime(2099, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    secret = token.rpartition("_")[2]
    assert {"no-store", "private"} <= set(answer["Cache-Control"].split(", "))
    assert secret not in str(answer.cookies)
    assert secret not in str([s.get_decoded() for s in Session.objects.all()])
    assert secret not in caplog.text
    assert not TOKEN.search(client.get(links.row_page(key)).text)
    event = AuditEvent.objects.get(tenant="acme")
    assert (event.action, event.actor) == ("key.create", f"user:{user.pk}")
    assert secret not in str(event.detail)


def test_a_key_reads_documents_as_its_principal(root: Client) -> None:
    """B217: the groups of lines that are not blank."""
    change = {"principal": "ada", "groups": "hr\r\n\r\nfield sales\r\n"}
    (token,) = TOKEN.findall(root.post(ADD, GIVEN | change).text)
    grant = lifecycle.authenticate(using="default", token=token, at=timezone.now())
    assert grant is not None
    reads = Authorization("ada", ["hr", "field sales"], open=Open.ALLOW)
    assert grant.authorization == reads
    page = root.get(links.row_page(AccessKey.objects.get())).text
    assert "field sales" in page


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": ""}, "This field is required"),
        ({"tenant": " "}, "needs a tenant"),
        ({"owner": "", "agent": "x"}, "needs an owner"),
        ({"permissions": []}, "This field is required"),
        ({"expires_at": "2001-01-01T00:00:00"}, "in the future"),
        ({"trust": "god"}, "valid choice"),
        ({"owner": "ä" * 200}, "256 bytes"),
        ({"tenant": "a\0b"}, "Null characters"),
        ({"groups": "hr"}, "are a principal"),
        (
            {"principal": "ada", "groups": "\n".join(map(str, range(33)))},
            "more than 32",
        ),
    ],
)
def test_a_key_that_cannot_be_is_refused(
    root: Client, change: dict[str, Any], words: str
) -> None:
    answer = root.post(ADD, {**GIVEN, **change})
    assert answer.status_code == 200
    assert words in answer.text
    assert not AccessKey.objects.exists()


def test_the_form_begins_with_the_scope_it_was_asked_for(root: Client) -> None:
    page = root.get(f"{ADD}?tenant=acme&owner=%25&label=x").text
    assert 'value="acme"' in page
    assert 'value="%"' in page


def test_making_a_key_needs_its_permission(client: Client) -> None:
    client.force_login(make_staff("view_accesskey", "change_accesskey"))
    assert client.get(ADD).status_code == 403
    assert client.post(ADD, GIVEN).status_code == 403
    assert "Create a key" not in client.get(links.list_page(AccessKey)).text


def test_revoking_asks_then_ends_the_key(client: Client) -> None:
    key = make_key()
    user = make_staff("view_accesskey", "change_accesskey")
    client.force_login(user)
    address = links.row_page(key, "revoke")
    assert "Revoke this key?" in client.get(address).text
    assert AccessKey.objects.get().revoked_at is None
    assert "The key was revoked" in client.post(address, follow=True).text
    assert AccessKey.objects.get().revoked_at is not None
    event = AuditEvent.objects.get(tenant="acme", action="key.revoke")
    assert event.actor == f"user:{user.pk}"
    assert "was revoked before" in client.post(address, follow=True).text


def test_revoking_needs_its_permission(client: Client) -> None:
    key = make_key()
    client.force_login(make_staff("view_accesskey", "add_accesskey"))
    assert client.post(links.row_page(key, "revoke")).status_code == 403
    assert 'revoke/">' not in client.get(links.row_page(key)).text


def test_a_list_says_how_keys_stand(root: Client) -> None:
    now = timezone.now()
    active = make_key(label="never ends", expires_at=None)
    make_key(label="long", expires_at=now + dt.timedelta(days=90))
    make_key(label="soon", expires_at=now + dt.timedelta(days=3))
    expired = make_key(label="expired")
    AccessKey.objects.filter(id=expired.id).update(expires_at=now)
    revoked = make_key(Scope("globex"), label="revoked")
    AccessKey.objects.filter(id=revoked.id).update(revoked_at=now)
    page = root.get(links.list_page(AccessKey)).text
    for words in ("open", "expires soon", "expired", "revoked"):
        assert f">{words}</span>" in page

    def labels(**wish: str) -> set[str]:
        answer = root.get(links.list_page(AccessKey, **wish))
        return {row.label for row in answer.context["window"].rows}

    assert labels(state="open") == {"never ends", "long", "soon"}
    assert labels(state="expired") == {"expired"}
    assert labels(state="revoked") == {"revoked"}
    assert labels(tenant="acme") == {"never ends", "long", "soon", "expired"}
    assert labels(tenant="nobody") == set()
    assert labels(owner="ada", tenant="acme") == labels(tenant="acme")
    assert active.label in root.get(links.row_page(active)).text


def test_the_hash_is_on_no_page(root: Client) -> None:
    key = make_key()
    digest = bytes(AccessKey.objects.get(id=key.id).sha256).hex()
    for address in (links.list_page(AccessKey), links.row_page(key)):
        assert digest not in root.get(address).text
