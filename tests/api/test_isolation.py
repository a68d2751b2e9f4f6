"""Stories of people who must not see each other's memories."""

from __future__ import annotations

import uuid
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from prism_memory.models import Record
from prism_memory.types import Scope
from tests.api.conftest import Caller, make_token, refused

pytestmark = pytest.mark.django_db

SECRET = "The safe's number is 4711."
OWNERS = ["john_doe", "john-doe", "john", "johnny", "%", "a\\_b", "a.b", "A", "a"]


def test_bob_does_not_see_what_alice_remembers(alice: Caller, bob: Caller) -> None:
    """B497, case_C02."""
    memory_id = alice.remember(SECRET)

    assert bob.recalls("the safe's number") == []
    assert bob.recalls("the safe's number", ids=[memory_id]) == []
    assert bob.lists() == []
    assert bob.get("pending").json()["pending"] == 0
    assert alice.recalls("the safe's number") == [SECRET]
    assert alice.lists() == [SECRET]


def test_another_tenant_with_the_same_owner_sees_nothing(
    alice: Caller, carol: Caller
) -> None:
    """B497, case_C02."""
    memory_id = alice.remember(SECRET)

    assert carol.recalls("the safe's number", ids=[memory_id]) == []
    assert carol.lists() == []


def test_a_foreign_id_and_an_unknown_one_look_the_same(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    """B25, B497."""
    memory_id = alice.remember(SECRET)
    odd = ["x", "%00", "%F0%9F%98%80", quote("' OR 1=1 --"), "0" * 300]

    for caller in (bob, carol, alice.sends(thread="t1")):
        foreign = [
            caller.post(f"memories/{known}/consent", {"visible": False})
            for known in (memory_id, uuid.uuid4(), *odd)
        ]
        assert {answer.content for answer in foreign} == {foreign[0].content}
        for answer in foreign:
            refused(answer, 404, "not_visible")
    for caller in (bob, carol):
        read = [
            caller.get(f"memories/{known}") for known in (memory_id, uuid.uuid4(), *odd)
        ]
        assert {answer.content for answer in read} == {read[0].content}
        for answer in read:
            refused(answer, 404, "not_visible")
    assert alice.lists() == [SECRET]


def test_threads_share_the_owners_memories_and_keep_their_own(alice: Caller) -> None:
    """B17, B18, B20."""
    alice.remember("Alice likes tea.")
    first, second = alice.sends(thread="t1"), alice.sends(thread="t2")
    first.remember("The first thread talks of trains.")

    assert sorted(first.lists()) == [
        "Alice likes tea.",
        "The first thread talks of trains.",
    ]
    assert second.lists() == ["Alice likes tea."]
    assert "The first thread talks of trains." not in second.recalls("trains thread")
    assert alice.lists() == ["Alice likes tea."]


def test_a_write_lands_at_exactly_the_scope_of_the_headers(alice: Caller) -> None:
    """B20."""
    memory_id = alice.sends(agent="support", thread="t1").remember("Hello")

    answer = alice.sends(agent="support", thread="t1").get(f"memories/{memory_id}")
    assert answer.json()["scope"] == {
        "tenant": "acme",
        "owner": "alice",
        "agent": "support",
        "thread": "t1",
    }


def test_names_are_names_not_patterns() -> None:
    """case_C01: each owner holds one secret and gets it alone on every path."""
    odd = ["名前", "a,b", "a b", " a", "a/b", "e\u0301", "\u00e9", "\u202e", "😀"]
    tenant = Caller(make_token(Scope("acme")))
    callers = {name: tenant.sends(owner=quote(name, safe="")) for name in OWNERS + odd}
    ids = {
        owner: caller.remember(f"secret of {owner!r}")
        for owner, caller in callers.items()
    }

    for owner, caller in callers.items():
        assert caller.lists() == [f"secret of {owner!r}"]
        assert caller.recalls("secret", top_k=32) == [f"secret of {owner!r}"]
        found = caller.get(f"memories/{ids[owner]}").json()
        assert found["scope"]["owner"] == owner


@pytest.mark.parametrize(
    "value",
    ["", "%", "%f", "%zz", "%ff", "%C3%28", "%ED%A0%80", "a,b", "a b", "é"],
)
@pytest.mark.parametrize("level", ["owner", "agent", "thread"])
def test_a_malformed_header_is_refused(alice: Caller, level: str, value: str) -> None:
    """case_C04: an empty name is no wider scope."""
    answer = alice.sends(**{level: value}).get("memories")

    refused(answer, 400, "validation", f"Prism-{level.capitalize()}")


@pytest.mark.parametrize("value", ["%00", "a%00b"])
def test_a_nul_in_a_header_is_refused(alice: Caller, value: str) -> None:
    refused(alice.sends(thread=value).get("memories"), 400, "validation", "thread")


def test_a_name_that_is_too_long_is_refused(alice: Caller) -> None:
    refused(alice.sends(thread="a" * 257).get("memories"), 422, "limit", "thread")
    assert alice.sends(thread="a" * 256).lists() == []


def test_a_blank_name_is_refused(alice: Caller) -> None:
    assert alice.sends(thread="%20").get("memories").status_code == 400


def test_a_misspelt_header_does_not_widen_the_scope(alice: Caller) -> None:
    caller = alice.sends()
    caller.headers = {"Prism-Tread": "t1"}

    answer = caller.post("memories", {"text": "Hello"})

    refused(answer, 400, "validation", "headers")
    assert alice.lists() == []


NAMING = ["scope", "tenant", "owner", "agent", "thread", "trust", "writer", "origin"]


@pytest.mark.parametrize("name", [*NAMING, "gate", "actor"])
def test_a_body_names_neither_scope_nor_trust(alice: Caller, name: str) -> None:
    """B497, case_C27: on every level of every body, and in every query."""
    bodies = [
        ("memories", {"text": "Hello", name: "bob"}),
        ("memories", {"entries": [{"text": "Hello", name: "bob"}]}),
        ("memories", {"entries": [{"text": "Hello"}], name: "bob"}),
        ("memories", {"text": "Hello", "consent": {name: "bob"}}),
        ("memories", {"text": "Hello", "source": {"key": "k", name: "bob"}}),
        ("memories", {"text": "Hello", "lineage": {"source_ids": [], name: "bob"}}),
        ("recall", {"query": "Hello", name: "bob"}),
        ("facts", {"subject": "a", "predicate": "b", "value": "c", name: "bob"}),
        ("facts/remember", {"text": "Hello", name: "bob"}),
        (f"facts/{uuid.uuid4()}/supersede", {"value": "c", name: "bob"}),
        (f"facts/{uuid.uuid4()}/accept", {name: "bob"}),
        (f"reviews/{uuid.uuid4()}/decide", {"decision": "accept", name: "bob"}),
        (f"memories/{uuid.uuid4()}/consent", {"visible": True, name: "bob"}),
    ]

    for path, body in bodies:
        answer = alice.post(path, body)
        refused(answer, 400, "validation")
        assert answer.json()["detail"].startswith(f"{name} comes from")
    read = ("memories", f"memories/{uuid.uuid4()}", "pending", "limits", "facts")
    for path in (*read, "facts/timeline", "entities", "reviews", "conflicts"):
        refused(alice.get(path, f"?{name}=bob"), 400, "validation")
    refused(alice.post("recall", {"query": "x"}, f"?{name}=bob"), 400, "validation")
    refused(alice.post("memories", {"text": "x"}, f"?{name}=b"), 400, "validation")
    assert not Record.objects.exists()


def test_trust_and_writer_are_the_keys(alice: Caller) -> None:
    """case_C27."""
    memory_id = alice.remember("Trust me.", metadata={"trust": "user", "verified": 1})

    found = alice.get(f"memories/{memory_id}").json()
    assert found["trust"] == "agent"
    assert found["writer"].startswith("key:")


def test_every_statement_names_the_tenant(alice: Caller) -> None:
    """B22."""
    memory_id = alice.remember("Tea, not coffee")
    with CaptureQueriesContext(
        connection,
    ) as captured:
        alice.post("memories", {"text": "Coffee, not tea", "wait": True})
        alice.post("recall", {"query": "tea"})
        alice.get("memories")
        alice.get(f"memories/{memory_id}")
        alice.get("pending")
        claim = {"subject": "Ada", "predicate": "likes", "value": "tea"}
        alice.post("facts", {**claim, "evidence": [memory_id]})
        alice.post("facts/remember", {"text": "Ada plays the cello"})
        for route in ("facts", "facts/timeline?subject=Ada", "entities", "conflicts"):
            alice.get(route)
        alice.get("reviews")
        alice.post(f"memories/{memory_id}/consent", {"visible": False})

    allowed = ("SAVEPOINT", "RELEASE", "SELECT current_setting")
    glob = ('"prism_memory_accesskey"', "prism_memory_embeddingspace")
    for query in captured.captured_queries:
        sql = query["sql"]
        if sql.startswith(allowed) or any(name in sql for name in glob):
            continue
        assert "acme" in sql, sql
