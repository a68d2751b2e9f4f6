"""``/audit``: the tenant's trail, for who governs the whole tenant."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from prism_memory.types import Permission, Scope
from tests.api.conftest import Caller, make_token, refused
from tests.capture import tenant_in_every_statement
from tests.factories import NOON
from tests.governance.trail import act, seal

pytestmark = pytest.mark.django_db

ACME = Scope("acme")


@pytest.fixture
def auditor() -> Caller:
    return Caller(make_token(ACME, (Permission.GOVERN,)))


def targets(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [
        event["target"]
        for event in answer.json()["items"]
        if event["action"] == "memory.test"
    ]


def test_tells_who_did_what_newest_first(auditor: Caller) -> None:
    act(2)
    seal()
    answer = auditor.get("audit?action=memory.test")
    newest, oldest = answer.json()["items"]
    assert newest.pop("id") != oldest["id"]
    assert newest == {
        "at": "2026-01-01T12:00:01.000000Z",
        "actor": "user:1",
        "action": "memory.test",
        "target": "record:1",
        "reason": "because",
        "detail": {"number": 1, "of": [2]},
        "seal": 1,
    }
    assert answer.json()["next_cursor"] is None


def test_pages_to_the_end(auditor: Caller) -> None:
    act(5)
    act(2)  # of the same moments: the ids decide
    found: list[str] = []
    answer = auditor.get("audit?action=memory.test&limit=2")
    while True:
        page = answer.json()
        found += [event["id"] for event in page["items"]]
        if page["next_cursor"] is None:
            break
        act(1)  # what is newer comes on no page behind
        cursor = page["next_cursor"]
        answer = auditor.get(f"audit?action=memory.test&limit=2&cursor={cursor}")
    assert len(found) >= 7
    assert len(set(found)) == len(found)


def test_is_narrowed(auditor: Caller) -> None:
    act(3)
    assert targets(auditor.get("audit?target=record:1")) == ["record:1"]
    assert targets(auditor.get("audit?action=memory.other")) == []
    since = (NOON + dt.timedelta(seconds=1)).isoformat().replace("+00:00", "Z")
    assert targets(auditor.get(f"audit?since={since}")) == ["record:2", "record:1"]


@pytest.mark.parametrize(
    "scope",
    [
        Scope("acme", owner="ada"),
        Scope("acme", owner="ada", agent="support"),
        Scope("acme", owner="ada", agent="support", thread="chat-1"),
    ],
    ids=str,
)
def test_an_owners_key_opens_nothing(scope: Scope) -> None:
    """An event carries no scope: its actors and ids are of anybody."""
    act(1)
    caller = Caller(make_token(scope, tuple(Permission)))
    refused(caller.get("audit"), 403, "scope", "scope")


def test_a_tenants_key_that_was_narrowed_opens_nothing(auditor: Caller) -> None:
    act(1)
    refused(auditor.sends(owner="ada").get("audit"), 403, "scope", "scope")


@pytest.mark.parametrize("tenant", ["beta", "acme2", "ACME"])
def test_another_tenant_sees_nothing_of_it(tenant: str) -> None:
    act(3)
    stranger = Caller(make_token(Scope(tenant), tuple(Permission)))
    assert targets(stranger.get("audit")) == []
    assert targets(stranger.get("audit?target=record:1")) == []


def test_another_tenants_cursor_shows_nothing_of_it(auditor: Caller) -> None:
    act(3)
    cursor = auditor.get("audit?limit=1").json()["next_cursor"]
    stranger = Caller(make_token(Scope("beta"), tuple(Permission)))
    assert targets(stranger.get(f"audit?cursor={cursor}")) == []


def test_the_installations_trail_is_nobodys(auditor: Caller) -> None:
    act(3, tenant="")
    assert targets(auditor.get("audit")) == []


def test_only_who_governs_may_read_it() -> None:
    for permission in set(Permission) - {Permission.GOVERN}:
        caller = Caller(make_token(ACME, (permission,)))
        refused(caller.get("audit"), 403, "permission", "permission")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("cursor=abc", "cursor"),
        ("cursor=WyJhdWRpdCIsICIyMDI2LTAxLTAxVDEyOjAwOjAwIiwgIjEiXQ", "cursor"),
        ("since=yesterday", "since"),
        ("since=2026-01-01T12:00:00", "since"),
        ("action=%00", "action"),
        ("tenant=beta", "tenant"),
    ],
)
def test_what_it_cannot_read_is_refused(
    auditor: Caller, query: str, field: str
) -> None:
    refused(auditor.get(f"audit?{query}"), 400, "validation", field)


def test_the_page_is_bounded(auditor: Caller) -> None:
    assert auditor.get("audit?limit=200").status_code == 200
    assert auditor.get("audit?limit=201").status_code in {400, 422}


def test_every_statement_names_the_tenant(auditor: Caller) -> None:
    """B22: but for the key's own row."""
    act(1)
    with tenant_in_every_statement("acme") as seen:
        auditor.get("audit?target=record:1")
    assert seen.on_tenants()
