"""Shares over HTTP: given, replaced, revoked, listed, and recalled."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.models import AuditEvent, ShareGrant
from prism_memory.types import Permission, Scope
from tests.api.conftest import Caller, make_token, refused
from tests.api.test_openapi import validator

pytestmark = pytest.mark.django_db

FROM_PARENT = "share_from_parent_thread_id"
LATER = "2999-01-01T00:00:00Z"


@pytest.fixture
def parent(alice: Caller) -> Caller:
    return alice.sends(agent="support", thread="t1")


@pytest.fixture
def child(alice: Caller) -> Caller:
    return alice.sends(agent="support", thread="t2")


def share(caller: Caller, *ids: str, **given: Any) -> Any:
    return caller.request("PUT", "shares", {"child": "t2", "ids": ids, **given})


def revoke(caller: Caller, query: str = "?child=t2") -> Any:
    return caller.request("DELETE", f"shares{query}")


def test_a_share_is_given_listed_recalled_and_revoked(
    parent: Caller, child: Caller
) -> None:
    """B174, B177, B183."""
    shared = parent.remember("green tea one")
    parent.remember("green tea two")
    body = {"child": "t2", "ids": [shared], "expires_at": LATER, "reason": "hand-over"}
    validator("ShareInput").validate(body)

    assert share(parent, shared, expires_at=LATER, reason="hand-over").content == b""

    for caller in (parent, child):
        page = caller.get("shares").json()
        validator("SharePageOutput").validate(page)
        (one,) = page["items"]
        assert one["ids"] == [shared]
        assert one["expires_at"] == "2999-01-01T00:00:00.000000Z"
        assert (one["parent"]["thread"], one["child"]["thread"]) == ("t1", "t2")
    assert child.recalls("tea") == []
    assert child.recalls("tea", **{FROM_PARENT: "t1"}) == ["green tea one"]
    event = AuditEvent.objects.get(action="memory.share")
    assert (event.reason, event.actor.partition(":")[0]) == ("hand-over", "key")

    assert revoke(parent, "?child=t2&reason=over").status_code == 204
    assert revoke(parent).status_code == 204
    refused(
        child.post("recall", {"query": "tea", FROM_PARENT: "t1"}),
        403,
        "scope",
        FROM_PARENT,
    )


def test_explanations_name_the_parent(parent: Caller, child: Caller) -> None:
    """B184."""
    share(parent, parent.remember("green tea"))
    child.remember("tea of mine")
    answer = child.post(
        "recall", {"query": "green tea", "explain": True, FROM_PARENT: "t1"}
    ).json()
    validator("RecalledOutput").validate(answer)
    told = {
        one["scope"]["thread"]: one["shared_from"] for one in answer["explanations"]
    }
    assert told == {"t1": "t1", "t2": None}


def test_a_deep_recall_takes_it_too(parent: Caller, child: Caller) -> None:
    share(parent, parent.remember("green tea"))
    answer = child.post("recall/deep", {"query": "tea", FROM_PARENT: "t1"}).json()
    assert [hit["text"] for hit in answer["hits"]] == ["green tea"]


def test_no_ids_revoke(parent: Caller) -> None:
    """B177."""
    share(parent, parent.remember("green tea"))
    assert share(parent).status_code == 204
    assert not ShareGrant.objects.exists()


def test_what_has_expired_is_refused(parent: Caller, child: Caller) -> None:
    """B176."""
    share(parent, parent.remember("green tea"))
    ShareGrant.objects.update(expires_at=timezone.now())
    refused(
        child.post("recall", {"query": "tea", FROM_PARENT: "t1"}),
        400,
        "validation",
        FROM_PARENT,
    )


@pytest.mark.parametrize(
    ("given", "status", "code", "field"),
    [
        ({"ids": [str(uuid.UUID(int=7))]}, 404, "not_visible", "ids"),
        ({"ids": [str(uuid.UUID(int=i)) for i in range(33)]}, 422, "limit", "ids"),
        ({"ids": ["x"]}, 400, "validation", "ids[0]"),
        ({"ids": None}, 400, "validation", "ids"),
        ({"child": "t1"}, 400, "validation", "child"),
        ({"child": ""}, 400, "validation", "child"),
        ({"child": 5}, 400, "validation", "child"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, 400, "validation", "expires_at"),
        ({"expires_at": "2999-01-01T00:00:00"}, 400, "validation", "expires_at"),
        ({"reason": "a" * 1_001}, 422, "limit", "reason"),
        ({"thread": "t2"}, 400, "validation", "thread"),
        ({"other": 1}, 400, "validation", None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_shared_is_refused(
    parent: Caller, given: Any, status: int, code: str, field: str | None
) -> None:
    """B180."""
    shared = parent.remember("green tea")
    refused(share(parent, **{"ids": [shared], **given}), status, code, field)
    assert not ShareGrant.objects.exists()


@pytest.mark.parametrize("missing", ["child", "ids"])
def test_child_and_ids_are_asked_for(parent: Caller, missing: str) -> None:
    body = {"child": "t2", "ids": []}
    del body[missing]
    refused(parent.request("PUT", "shares", body), 400, "validation", missing)


@pytest.mark.parametrize("query", ["", "?child=t2&child=t3", "?other=1", "?child="])
def test_whose_share_ends_is_said_once(parent: Caller, query: str) -> None:
    refused(revoke(parent, query), 400, "validation")


def test_only_a_thread_shares(alice: Caller) -> None:
    refused(share(alice), 403, "scope", "child")
    refused(revoke(alice), 403, "scope", "child")
    assert alice.get("shares").json() == {"items": [], "next_cursor": None}


def test_strangers_get_nothing(
    parent: Caller, bob: Caller, carol: Caller, alice: Caller
) -> None:
    """B175, B178, B8: siblings, owners, agents and tenants."""
    shared = parent.remember("green tea")
    share(parent, shared)
    for other in (
        alice.sends(agent="support", thread="t3"),
        alice.sends(agent="sales", thread="t2"),
        bob.sends(agent="support", thread="t2"),
        carol.sends(agent="support", thread="t2"),
    ):
        asked = {"query": "tea", FROM_PARENT: "t1"}
        refused(other.post("recall", asked), 403, "scope", FROM_PARENT)
        assert other.get("shares").json()["items"] == []
        refused(
            other.request("PUT", "shares", {"child": "t9", "ids": [shared]}),
            404,
            "not_visible",
        )
        assert revoke(other, "?child=t9").status_code == 204
    assert ShareGrant.objects.count() == 1


def test_reading_is_enough_to_recall_and_not_to_share(parent: Caller) -> None:
    shared = parent.remember("green tea")
    share(parent, shared)
    thread = Scope("acme", owner="alice", agent="support", thread="t2")
    reader = Caller(make_token(thread, (Permission.READ,)))
    assert reader.recalls("tea", **{FROM_PARENT: "t1"}) == ["green tea"]
    refused(
        reader.request("PUT", "shares", {"child": "t3", "ids": []}), 403, "permission"
    )


def test_pages_hold_every_share_once(parent: Caller) -> None:
    shared = parent.remember("green tea")
    for n in range(5):
        share(parent, shared, child=f"child-{n}")
    found, cursor = [], ""
    while True:
        page = parent.get("shares", f"?limit=2{cursor}").json()
        found += [one["child"]["thread"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert found == [f"child-{n}" for n in range(5)]
    refused(parent.get("shares", "?cursor=x"), 400, "validation", "cursor")


def test_an_expiry_keeps_its_moment(parent: Caller) -> None:
    shared = parent.remember("green tea")
    share(parent, shared, expires_at="2999-01-01T02:00:00.000001+02:00")
    ends = ShareGrant.objects.get().expires_at
    assert ends == dt.datetime(2999, 1, 1, 0, 0, 0, 1, tzinfo=dt.UTC)
