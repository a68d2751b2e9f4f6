"""``/retention``: for keys of a whole tenant."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.models import AuditEvent, Record, RetentionPolicy, Run
from prism_memory.types import Permission, Scope
from tests.api.conftest import ALICE, Caller, make_token, refused
from tests.api.test_openapi import validator

pytestmark = pytest.mark.django_db

YEAR = {"name": "a year", "max_age_days": 365}


@pytest.fixture
def olga() -> Caller:
    """Governs and operates the tenant acme."""
    return Caller(make_token(Scope("acme"), (Permission.GOVERN, Permission.OPERATE)))


@pytest.fixture
def carol() -> Caller:
    return Caller(make_token(Scope("globex")))


def make(caller: Caller, **given: Any) -> dict[str, Any]:
    answer = caller.post("retention/policies", YEAR | given)
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def grow_old(days: int = 400) -> None:
    Record.objects.update(created_at=timezone.now() - dt.timedelta(days=days))


def test_a_policy_is_made_listed_read_changed_and_deleted(olga: Caller) -> None:
    made = make(olga, kind="note", tier="", level="thread", max_entries=9)
    validator("PolicyOutput").validate(made)
    said = {"kind": "note", "tier": "", "level": "thread", "max_age_days": 365}
    assert made.items() >= (said | {"max_entries": 9, "enabled": True}).items()
    path = f"retention/policies/{made['id']}"
    assert olga.get(path).json() == made
    changes = {"tier": None, "max_age_days": None, "enabled": False, "reason": "x"}
    changed = olga.request("PATCH", path, changes).json()
    assert changed["changed_at"] > made["changed_at"]
    assert changed == made | {
        "tier": None,
        "max_age_days": None,
        "enabled": False,
        "changed_at": changed["changed_at"],
    }
    listed = olga.get("retention/policies").json()
    validator("PoliciesOutput").validate(listed)
    assert listed == {"items": [changed]}
    assert olga.request("DELETE", f"{path}?reason=over").status_code == 204
    refused(olga.get(path), 404, "not_visible")
    events = AuditEvent.objects.filter(tenant="acme", action__startswith="retention.")
    assert [(e.action, e.reason) for e in events.order_by("id")] == [
        ("retention.create", ""),
        ("retention.change", "x"),
        ("retention.delete", "over"),
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "p"}, "max_age_days"),
        ({"max_age_days": 1}, "name"),
        (YEAR | {"max_age_days": -1}, "max_age_days"),
        (YEAR | {"max_age_days": "1"}, "max_age_days"),
        (YEAR | {"kind": "secret"}, "kind"),
        (YEAR | {"level": "world"}, "level"),
        (YEAR | {"tenant": "globex"}, "tenant"),
        (YEAR | {"name": " "}, "name"),
    ],
    ids=str,
)
def test_what_is_no_policy_is_refused(
    olga: Caller, body: dict[str, Any], field: str
) -> None:
    refused(olga.post("retention/policies", body), 400, "validation", field)
    assert not RetentionPolicy.objects.exists()


def test_a_name_is_used_once(olga: Caller) -> None:
    make(olga)
    refused(olga.post("retention/policies", YEAR), 409, "conflict", "name")


def test_a_preview_tells_and_a_run_does(olga: Caller, alice: Caller) -> None:
    alice.remember("long ago")
    alice.remember("and this")
    grow_old()
    policy = make(olga)["id"]
    for query in ("", f"?policy={policy}"):
        told = olga.get("retention/preview", query).json()
        validator("PreviewsOutput").validate(told)
        (one,) = told["items"]
        assert (one["due"], one["kept"], one["complete"]) == (2, 0, True)
        assert [(s["owner"], s["due"]) for s in one["scopes"]] == [("alice", 2)]
    assert Record.objects.count() == 2
    done = olga.post("retention/runs", {"policy": policy})
    assert done.status_code == 200, done.content
    validator("RetentionRunOutput").validate(done.json())
    assert done.json().items() >= {"state": "done", "deleted": 2}.items()
    assert not Record.objects.exists()
    listed = olga.get("retention/runs").json()
    validator("RetentionRunsOutput").validate(listed)
    assert listed["items"] == [done.json()]
    assert olga.get("retention/runs", "?limit=1").json() == listed
    assert Run.objects.get().actor.startswith("key:")


def test_a_policy_that_is_off_is_not_applied(olga: Caller) -> None:
    policy = make(olga, enabled=False)["id"]
    refused(olga.post("retention/runs", {"policy": policy}), 409, "conflict", "policy")
    assert olga.get("retention/preview").json() == {"items": []}
    assert len(olga.get("retention/preview", f"?policy={policy}").json()["items"]) == 1


@pytest.mark.parametrize("limit", ["0", "201", "x"])
def test_a_list_of_runs_is_bounded(olga: Caller, limit: str) -> None:
    answer = olga.get("retention/runs", f"?limit={limit}")
    assert answer.status_code == 400


ROUTES = [
    ("GET", "retention/policies", None),
    ("POST", "retention/policies", YEAR),
    ("GET", "retention/policies/{id}", None),
    ("PATCH", "retention/policies/{id}", {"name": "mine"}),
    ("DELETE", "retention/policies/{id}", None),
    ("GET", "retention/preview", None),
    ("GET", "retention/preview?policy={id}", None),
    ("GET", "retention/runs", None),
    ("POST", "retention/runs", {"policy": "{id}"}),
]


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_below_the_tenant_nobody_may(
    method: str, path: str, body: Any, olga: Caller, alice: Caller
) -> None:
    """Neither a key that is bound below it, nor a tenant's that names an owner."""
    policy = make(olga, name="kept")["id"]
    at_owner = olga.sends(owner="alice")
    whole = {"policy": policy} if body and "policy" in body else body
    for caller in (alice, at_owner):
        answer = caller.request(method, path.format(id=policy), whole)
        refused(answer, 403, "scope")
    assert RetentionPolicy.objects.get().name == "kept"


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
def test_another_tenant_finds_nothing(
    method: str, path: str, body: Any, olga: Caller, carol: Caller, alice: Caller
) -> None:
    alice.remember("long ago")
    grow_old()
    policy = make(olga, name="kept")["id"]
    whole = {"policy": policy} if body and "policy" in body else body
    answer = carol.request(method, path.format(id=policy), whole)
    if policy in str(whole) or "{id}" in path:
        refused(answer, 404, "not_visible")
    else:
        assert policy not in answer.content.decode()
    assert RetentionPolicy.objects.get(tenant="acme").name == "kept"
    assert Record.objects.count() == 1


def test_an_id_that_is_none_is_an_unknown_one(olga: Caller) -> None:
    for policy in ("x", uuid.uuid4()):
        refused(olga.get(f"retention/policies/{policy}"), 404, "not_visible")
    assert ALICE.tenant == "acme"
