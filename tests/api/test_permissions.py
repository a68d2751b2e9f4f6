"""Who may do what: every route times every kind of caller.

The rows come from the urlconf, so a new route without a row fails here.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.api.urls import urlpatterns
from prism_memory.lifecycle import revoke_key
from prism_memory.models import AccessKey, Record
from prism_memory.types import Actor, Permission, Scope, Trust
from tests.api.conftest import ALICE, Caller, make_token, refused

pytestmark = pytest.mark.django_db

THREAD = Scope("acme", owner="alice", agent="support", thread="t1")


@dataclass(frozen=True)
class Row:
    """What a route is expected to need.

    Args:
        needs: The only permission that opens it; None is open to all.
        status: Of success.
        body: Of the request.
        below: Status from a thread below, on a memory of the owner's level.
        query: Of the request.
        again: Status the second time, where that is another.
        in_thread: Only in a thread is there anything to do.
    """

    needs: Permission | None
    status: int = 200
    body: Any = None
    below: int | None = None
    query: str = ""
    in_thread: bool = False
    again: int | None = None


NOBODY = "0192f0c1-0000-7000-8000-000000000000"
# It cites nothing: what cites something is in test_facts.py.
CLAIM = {"subject": "Ada", "predicate": "likes", "value": "tea", "evidence": []}
ROWS = {
    ("memories", "POST"): Row(Permission.WRITE, 201, {"text": "Tea, not coffee"}),
    ("memories", "GET"): Row(Permission.READ),
    ("memory", "GET"): Row(Permission.READ),
    ("memory", "DELETE"): Row(Permission.GOVERN, 204, below=404),
    ("memories-forget", "POST"): Row(Permission.GOVERN, 200, {"ids": []}),
    ("memories-forget-thread", "POST"): Row(Permission.GOVERN, in_thread=True),
    ("memories-release-forgotten", "POST"): Row(Permission.GOVERN, 200, {"ids": []}),
    ("holds", "GET"): Row(Permission.GOVERN),
    ("holds", "POST"): Row(Permission.GOVERN, 201, {"matter": "case 7"}, again=200),
    # No hold has a memory's id; see test_holds.py.
    ("hold", "DELETE"): Row(Permission.GOVERN, 404),
    ("tombstones", "GET"): Row(Permission.GOVERN),
    ("consent", "POST"): Row(Permission.GOVERN, 204, {"visible": True}, below=404),
    ("consent", "GET"): Row(Permission.GOVERN, below=404),
    ("correction", "POST"): Row(
        Permission.GOVERN, 200, {"text": "Cocoa, not tea"}, below=404
    ),
    ("quarantine", "POST"): Row(
        Permission.GOVERN, 200, {"reason": "asked to"}, below=404
    ),
    ("validate", "POST"): Row(Permission.GOVERN, 200, {}, below=404),
    ("recall", "POST"): Row(Permission.READ, 200, {"query": "tea"}),
    ("recall-deep", "POST"): Row(Permission.READ, 200, {"query": "tea"}),
    ("facts", "GET"): Row(Permission.READ),
    ("facts", "POST"): Row(Permission.WRITE, 400, CLAIM),
    ("facts-timeline", "GET"): Row(Permission.READ, query="?subject=Ada"),
    # No fact has a memory's id; see test_facts.py.
    ("fact", "GET"): Row(Permission.READ, 404),
    ("fact-history", "GET"): Row(Permission.READ, 404),
    ("fact-supersede", "POST"): Row(Permission.WRITE, 404, CLAIM),
    ("fact-retract", "POST"): Row(Permission.GOVERN, 404),
    ("fact-accept", "POST"): Row(Permission.GOVERN, 404),
    ("fact-validate", "POST"): Row(Permission.GOVERN, 404),
    ("fact-quarantine", "POST"): Row(Permission.GOVERN, 404, {"reason": "odd"}),
    ("fact-forget", "POST"): Row(Permission.GOVERN, 404),
    ("fact-purge", "POST"): Row(Permission.GOVERN, 404),
    ("fact-archive", "POST"): Row(Permission.GOVERN, 404),
    ("fact-unarchive", "POST"): Row(Permission.GOVERN, 404),
    ("facts-remember", "POST"): Row(
        Permission.WRITE, 201, {"text": "Ada likes tea"}, again=200
    ),
    ("conflicts", "GET"): Row(Permission.GOVERN),
    # No conflict has a memory's id; see test_conflicts.py.
    ("conflict-settle", "POST"): Row(Permission.GOVERN, 404, {"verdict": "admit"}),
    ("entities", "GET"): Row(Permission.READ),
    # No entity has a memory's id; see test_entities.py.
    ("entity", "GET"): Row(Permission.READ, 404),
    ("entity-merge", "POST"): Row(Permission.GOVERN, 404, {"into": NOBODY}),
    ("entity-unmerge", "POST"): Row(Permission.GOVERN, 404),
    ("reviews", "GET"): Row(Permission.GOVERN),
    # No review has a memory's id; see test_reviews.py.
    ("review-decide", "POST"): Row(Permission.GOVERN, 404, {"decision": "accept"}),
    # The memory stands in no source; see test_sources.py.
    ("sources", "GET"): Row(Permission.READ),
    ("source", "GET"): Row(Permission.READ, 404, query="?key=a%2Fb"),
    ("source", "PUT"): Row(Permission.WRITE, 200, {"text": "Tea"}, query="?key=a%2Fb"),
    ("source", "DELETE"): Row(Permission.GOVERN, query="?key=a%2Fb"),
    ("source-status", "GET"): Row(Permission.READ, 404, query="?key=a%2Fb"),
    ("source-chunks", "GET"): Row(Permission.READ, 404, query="?key=a%2Fb"),
    ("source-retire", "POST"): Row(Permission.GOVERN, 404, query="?key=a%2Fb"),
    ("source-restore", "POST"): Row(Permission.GOVERN, 404, query="?key=a%2Fb"),
    ("generations", "GET"): Row(Permission.GOVERN),
    ("generations", "PUT"): Row(Permission.GOVERN, 200, {"generation": None}),
    ("shares", "GET"): Row(Permission.READ),
    ("shares", "PUT"): Row(
        Permission.GOVERN, 204, {"child": "t2", "ids": []}, in_thread=True
    ),
    ("shares", "DELETE"): Row(
        Permission.GOVERN, 204, query="?child=t2", in_thread=True
    ),
    # Of a tenant's own keys only; these are an owner's. See test_audit.py.
    ("audit", "GET"): Row(Permission.GOVERN, 403),
    # As audit; see test_retention.py.
    ("retention-policies", "GET"): Row(Permission.GOVERN, 403),
    ("retention-policies", "POST"): Row(
        Permission.GOVERN, 403, {"name": "p", "expired": True}
    ),
    ("retention-policy", "GET"): Row(Permission.GOVERN, 403),
    ("retention-policy", "PATCH"): Row(Permission.GOVERN, 403, {"enabled": False}),
    ("retention-policy", "DELETE"): Row(Permission.GOVERN, 403),
    ("retention-preview", "GET"): Row(Permission.GOVERN, 403),
    ("retention-runs", "GET"): Row(Permission.OPERATE, 403),
    ("retention-runs", "POST"): Row(Permission.OPERATE, 403, {"policy": NOBODY}),
    # Also a source that is not there: it is told, and nothing changes.
    ("erasures", "POST"): Row(Permission.GOVERN, 202, {"source": "nothing"}),
    ("erasures", "GET"): Row(Permission.GOVERN),
    ("erasure-preview", "GET"): Row(Permission.GOVERN),
    # No erasure has a memory's id; see test_erasures.py.
    ("erasure", "GET"): Row(Permission.GOVERN, 404),
    ("memories-export", "GET"): Row(Permission.GOVERN),
    ("exports", "POST"): Row(Permission.GOVERN, 202, below=404),
    # No export has a memory's id; see test_exports.py.
    ("export", "GET"): Row(Permission.GOVERN, 404),
    ("export", "DELETE"): Row(Permission.GOVERN, 404),
    ("export-manifest", "GET"): Row(Permission.GOVERN, 404),
    ("export-part", "GET"): Row(Permission.GOVERN, 404),
    ("pending", "GET"): Row(Permission.READ),
    # Of a tenant's own keys only; see test_runs.py.
    ("pending-failed", "GET"): Row(Permission.OPERATE, 403),
    ("pending-retry", "POST"): Row(Permission.OPERATE, 403, {}),
    ("runs", "GET"): Row(Permission.OPERATE, 403),
    ("run", "GET"): Row(Permission.OPERATE, 403),
    ("run-cancel", "POST"): Row(Permission.OPERATE, 403, {}),
    ("run-retry", "POST"): Row(Permission.OPERATE, 403, {}),
    # As audit; see test_metrics.py.
    ("metrics", "GET"): Row(Permission.OPERATE, 403),
    ("limits", "GET"): Row(Permission.READ),
    ("health-live", "GET"): Row(None),
    ("health-ready", "GET"): Row(None),
    ("schema", "GET"): Row(None),
    ("docs", "GET"): Row(None),
    ("redoc", "GET"): Row(None),
}
CLAIMS = [
    {"source": "user"},
    {"source": "agent"},
    {"granted_at": "2001-01-01T00:00:00Z"},
    {"source": "user", "granted_at": "2001-01-01T00:00:00Z", "visible": True},
]
ROUTES = {pattern.name: pattern for pattern in urlpatterns}
SCOPED = [key for key, row in ROWS.items() if row.needs]
OPEN = [key for key, row in ROWS.items() if not row.needs]


def ask(caller: Caller, name: str, method: str, memory_id: str) -> Any:
    row = ROWS[name, method]
    route = re.sub("<str:[a-z]+_id>", memory_id, str(ROUTES[name].pattern))
    if row.in_thread:
        usual = {"Prism-Agent": "support", "Prism-Thread": "t1"}
        caller = Caller(caller.token, {**usual, **caller.headers}, caller.client)
    return caller.request(method, route + row.query, row.body)


@pytest.fixture
def memory_id(alice: Caller) -> str:
    return alice.remember("Tea, not coffee")


def test_every_route_and_method_has_a_row() -> None:
    served = {
        (name, method)
        for name, pattern in ROUTES.items()
        for method in pattern.callback.cls().allowed_methods
        if method not in {"OPTIONS", "HEAD"}
    }

    assert served == set(ROWS)


def test_every_scoped_operation_declares_its_permission() -> None:
    declared = {
        (name, method): operation.permission
        for name, pattern in ROUTES.items()
        for method, operation in pattern.callback.cls.operations.items()
    }

    assert declared == {
        key: row.needs
        for key, row in ROWS.items()
        if key[0] not in {"schema", "docs", "redoc"}
    }


@pytest.mark.parametrize(("name", "method"), SCOPED)
def test_only_the_right_permission_opens_a_route(
    name: str, method: str, memory_id: str
) -> None:
    row = ROWS[name, method]
    for permission in set(Permission) - {row.needs}:
        caller = Caller(make_token(ALICE, (permission,)))
        refused(ask(caller, name, method, memory_id), 403, "permission", "permission")

    assert row.needs
    caller = Caller(make_token(ALICE, (row.needs,)))
    answer = ask(caller, name, method, memory_id)
    assert answer.status_code == row.status, answer.content


def expired() -> str:
    token = make_token(expires_at=timezone.now() + dt.timedelta(hours=1))
    past = timezone.now() - dt.timedelta(seconds=1)
    AccessKey.objects.order_by("-created_at").update(expires_at=past)
    return token


def revoked() -> str:
    token = make_token()
    key_id = AccessKey.objects.latest("created_at").id
    revoke_key(using="default", key_id=key_id, actor=Actor(), at=timezone.now())
    return token


def other_secret() -> str:
    start, _, _ = make_token().rpartition("_")
    _, _, secret = make_token().split("_", 2)
    return f"{start}_{secret}"


def unknown_key() -> str:
    _, _, secret = make_token().split("_", 2)
    return f"pm_{'0' * 32}_{secret}"


TOKENS = {
    "none": lambda: "",
    "expired": expired,
    "revoked": revoked,
    "another key's secret": other_secret,
    "unknown key": unknown_key,
    "no secret": lambda: make_token().rpartition("_")[0] + "_",
    "cut short": lambda: make_token()[:-1],
    "no key": lambda: "pm_",
    "odd id": lambda: "pm_nothex_secret",
    "other kind": lambda: "sk-1234",
    "not ASCII": lambda: make_token() + "\u00e9",
    "long": lambda: "pm_" + "a" * 5000,
}


@pytest.mark.parametrize("kind", TOKENS)
def test_no_other_token_opens_a_route(kind: str, memory_id: str) -> None:
    """Each route: one that is refused changes nothing for the next."""
    caller = Caller(TOKENS[kind]())
    for name, method in SCOPED:
        answer = ask(caller, name, method, memory_id)

        refused(answer, 401, "unauthenticated")
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="prism_memory"'


@pytest.mark.parametrize("name", [name for name, method in SCOPED if method == "GET"])
def test_a_head_request_needs_what_get_needs(name: str, memory_id: str) -> None:
    route = re.sub("<str:[a-z]+_id>", memory_id, str(ROUTES[name].pattern))
    writer = Caller(make_token(ALICE, (Permission.WRITE,)))

    assert writer.request("HEAD", route).status_code == 403
    assert Caller("").request("HEAD", route).status_code == 401


@pytest.mark.parametrize(("name", "method"), SCOPED)
def test_a_key_opens_its_own_scope_and_below(
    name: str, method: str, alice: Caller, memory_id: str
) -> None:
    row = ROWS[name, method]
    below = alice.sends(owner="alice", agent="support", thread="t1")

    assert ask(alice, name, method, memory_id).status_code == row.status
    named = alice.sends(owner="alice")
    memory_id = alice.remember("Milk")  # the first may have been deleted
    again = ask(named, name, method, memory_id)
    assert again.status_code == (row.again or row.status)
    memory_id = alice.remember("Water")
    answer = ask(below, name, method, memory_id)
    assert answer.status_code == (row.below or row.status)


@pytest.mark.parametrize(
    ("scope", "headers"),
    [
        (ALICE, {"owner": "bob"}),
        (ALICE, {"owner": "Alice"}),
        (ALICE, {"owner": "bob", "thread": "t1"}),
        (THREAD, {"thread": "t2"}),
        (THREAD, {"agent": "sales"}),
        (THREAD, {"owner": "bob", "agent": "support", "thread": "t1"}),
        (Scope("acme"), {"thread": "t1"}),
        (Scope("acme"), {"agent": "support"}),
    ],
)
def test_a_key_opens_nothing_beside_or_above_it(
    scope: Scope, headers: dict[str, str], memory_id: str
) -> None:
    """B497."""
    caller = Caller(make_token(scope)).sends(**headers)

    for name, method in SCOPED:
        refused(ask(caller, name, method, memory_id), 403, "scope")


def test_no_header_names_a_tenant(alice: Caller, memory_id: str) -> None:
    caller = alice.sends(tenant="globex")

    for name, method in SCOPED:
        refused(ask(caller, name, method, memory_id), 400, "validation", "headers")


@pytest.mark.parametrize(("name", "method"), OPEN)
def test_probes_and_documents_are_open(name: str, method: str) -> None:
    assert ask(Caller(""), name, method, "").status_code == 200


def test_other_methods_are_refused(memory_id: str) -> None:
    caller = Caller(make_token())
    for name in {name for name, _ in ROWS}:
        route = re.sub("<str:[a-z]+_id>", memory_id, str(ROUTES[name].pattern))
        served = {method for other, method in ROWS if other == name} | {"HEAD"}

        for other in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - served:
            answer = caller.request(other, route)
            refused(answer, 405, "method")
            assert set(answer.headers["Allow"].split(", ")) >= served - {"HEAD"}


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_who_consented_is_not_the_writers_to_say(claim: dict[str, Any]) -> None:
    """case_C27: an agent's key must not make a consent the user's, nor an old one."""
    agent = Caller(make_token(ALICE, (Permission.READ, Permission.WRITE)))
    entry: dict[str, Any] = {"text": "Tea", "consent": claim}
    field = f"consent.{next(iter(claim))}"

    refused(agent.post("memories", entry), 403, "permission", field)
    batch = {"entries": [{"text": "Milk"}, entry]}
    refused(agent.post("memories", batch), 403, "permission", f"entries[1].{field}")
    assert not Record.objects.exists()

    governor = Caller(make_token(ALICE, (Permission.WRITE, Permission.GOVERN)))
    governor.remember(**entry)


@pytest.mark.parametrize(
    ("trust", "source"), [("agent", "agent"), ("user", "user"), ("tool", "system")]
)
@pytest.mark.parametrize("permissions", [(Permission.WRITE,), tuple(Permission)])
def test_a_consent_without_a_source_is_that_of_the_keys_trust(
    trust: str, source: str, permissions: tuple[Permission, ...]
) -> None:
    """case_C27, B97."""
    caller = Caller(make_token(ALICE, permissions, Trust(trust)))
    caller.remember("Tea", consent={"visible": True, "label": "profile"})
    caller.remember("Milk", consent={"granted_at": None})
    stored = Record.objects.values_list("consent_source", "consent_scope")
    assert {*stored} == {(source, "profile"), (source, "thread")}
