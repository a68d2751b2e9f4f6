"""Shares: listed by tenant, shown without a word, revoked with a reason."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from prism_memory.admin import links
from prism_memory.models import AuditEvent, Record, ShareGrant
from tests.admin.rows import make_staff
from tests.factories import make_memory, make_scope, remember

pytestmark = pytest.mark.django_db

WORDS = "A secret about tea."


@pytest.fixture
def share() -> ShareGrant:
    make_memory().share_with("chat-2", remember(WORDS, f"{WORDS} Again."))
    return ShareGrant.objects.get()


def listed(root: Client, **wish: Any) -> list[uuid.UUID]:
    answer = root.get(links.list_page(ShareGrant, tenant="acme", **wish))
    assert answer.status_code == 200
    return [row.id for row in answer.context["window"].rows]


def test_the_list_names_both_threads_and_no_words(
    root: Client, share: ShareGrant
) -> None:
    text = root.get(links.list_page(ShareGrant, tenant="acme")).text
    for part in (str(make_scope()), str(make_scope(thread="chat-2")), "in force"):
        assert part in text
    assert WORDS not in text


def test_the_page_names_the_records_and_no_words(
    root: Client, share: ShareGrant
) -> None:
    text = root.get(links.row_page(share)).text
    for record in Record.objects.filter(tenant="acme"):
        assert links.row_page(record) in text
    assert WORDS not in text


def test_it_is_narrowed_by_owner_threads_and_state(
    root: Client, share: ShareGrant
) -> None:
    make_memory().share_with("chat-3", remember("b"))
    ended = ShareGrant.objects.exclude(id=share.id).get()
    ShareGrant.objects.filter(id=ended.id).update(expires_at=timezone.now())

    assert listed(root) == [ended.id, share.id]
    assert listed(root, owner="ada", child="chat-2") == [share.id]
    assert listed(root, parent="chat-2") == []
    assert listed(root, state="force") == [share.id]
    assert listed(root, state="expired") == [ended.id]


def test_as_many_queries_for_many_as_for_one(root: Client, share: ShareGrant) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as seen:
            listed(root)
        return len(seen)

    one = asked()
    for n in range(5):
        make_memory().share_with(f"child-{n}", remember(f"b{n}"))
    assert asked() == one


def test_revoking_shows_its_effect_asks_why_and_does_it(
    client: Client, share: ShareGrant
) -> None:
    """B177."""
    user = make_staff("view_sharegrant", "delete_sharegrant")
    client.force_login(user)
    address = links.row_page(share, "revoke")
    assert address in client.get(links.row_page(share)).text
    assert "2 records of the other thread no more" in client.get(address).text
    assert ShareGrant.objects.exists()

    assert "errorlist" in client.post(address, {"reason": " "}).text
    assert ShareGrant.objects.exists()

    done = client.post(address, {"reason": "asked by phone"}, follow=True)
    assert "The share was revoked." in done.text
    assert not ShareGrant.objects.exists()
    event = AuditEvent.objects.get(action="memory.unshare")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "asked by phone")
    assert client.post(address, {"reason": "again"}).status_code == 404


def test_who_may_only_look_does_not_revoke(client: Client, share: ShareGrant) -> None:
    client.force_login(make_staff("view_sharegrant"))
    address = links.row_page(share, "revoke")
    assert address not in client.get(links.row_page(share)).text
    assert client.get(address).status_code == 403
    assert client.post(address, {"reason": "x"}).status_code == 403
    assert ShareGrant.objects.exists()


def test_who_may_not_look_sees_nothing(client: Client, share: ShareGrant) -> None:
    client.force_login(make_staff("delete_sharegrant"))
    for address in (
        links.list_page(ShareGrant, tenant="acme"),
        links.row_page(share),
        links.row_page(share, "revoke"),
    ):
        assert client.get(address).status_code == 403


def test_another_tenants_address_of_a_share_is_not_found(
    root: Client, share: ShareGrant
) -> None:
    for name in ("change", "revoke"):
        for identity in (f"{share.pk}~globex", str(share.pk)):
            address = links.page(ShareGrant, name, identity)
            assert root.get(address).status_code == 404
            assert root.post(address, {"reason": "x"}).status_code in {403, 404}
    assert ShareGrant.objects.exists()
