"""Remember, read, list and consent over HTTP."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.test import override_settings

from prism_memory.models import AuditEvent, Record
from tests.api.conftest import Caller, refused

pytestmark = pytest.mark.django_db


def test_one_entry_is_remembered(alice: Caller) -> None:
    answer = alice.post("memories", {"text": "Tea, not coffee"})

    assert answer.status_code == 201
    (memory_id,) = answer.json()["accepted"]
    assert answer.json()["pending"] is True
    assert alice.get(f"memories/{memory_id}").json()["text"] == "Tea, not coffee"


def test_a_batch_is_remembered_in_the_order_given(alice: Caller) -> None:
    """B87."""
    texts = [f"memory {n}" for n in range(20)]

    answer = alice.post("memories", {"entries": [{"text": text} for text in texts]})

    found = [
        alice.get(f"memories/{memory_id}").json()["text"]
        for memory_id in answer.json()["accepted"]
    ]
    assert found == texts


def test_one_bad_entry_stores_nothing_of_its_batch(alice: Caller) -> None:
    """B87: the error says which."""
    entries = [
        {"text": "good"},
        {"text": "good too"},
        {"text": "bad", "key": "a" * 257},
    ]

    answer = alice.post("memories", {"entries": entries})

    refused(answer, 422, "limit", "entries[2].key")
    assert not Record.objects.exists()


def test_an_empty_batch_stores_nothing(alice: Caller) -> None:
    """case_C04."""
    answer = alice.post("memories", {"entries": []})

    assert answer.status_code == 201
    assert answer.json() == {
        "accepted": [],
        "pending": False,
        "degraded": "",
        "quarantined": [],
    }


def test_waiting_embeds_before_answering(alice: Caller) -> None:
    """B498: the test's own transaction is no host's."""
    answer = alice.post("memories", {"text": "Tea, not coffee", "wait": True})

    assert answer.json()["pending"] is False
    assert alice.get("pending").json() == {
        "pending": 0,
        "failed": 0,
        "oldest_at": None,
    }


def test_what_waits_is_told(alice: Caller) -> None:
    alice.remember("Tea, not coffee")

    found = alice.get("pending").json()
    assert found["pending"] == 1
    assert found["oldest_at"].endswith("Z")


def test_remembering_the_same_again_gives_the_same_id(alice: Caller) -> None:
    assert alice.remember("Tea", key="drink") == alice.remember("Tea", key="drink")


FULL: dict[str, Any] = {
    "text": "Ada moved to Porto.",
    "key": "move",
    "kind": "turn",
    "tier": "episodic",
    "namespace": "travel",
    "partition": "p1",
    "metadata": {"n": 1, "nested": {"a": [1, 2.5, None, "é"]}},
    "consent": {
        "source": "user",
        "label": "profile",
        "visible": True,
        "granted_at": "2026-01-01T00:00:00Z",
    },
    "sequence": 7,
    "importance": 0.5,
    "reflection": {"why": "moved"},
    "lineage": {"source_ids": ["message-1"]},
    "source": {"key": "chat", "ordinal": 3, "uri": "https://example.org/chat"},
    "language": "english",
    "lexical_text": "Ada moved Porto",
    "embed_text": "Ada lives in Porto",
    "happened_at": "2026-05-01T10:00:00+01:00",
    "expires_at": "9999-01-01T00:00:00Z",
    "valid_from": "2026-05-01T00:00:00Z",
    "valid_to": "9998-01-01T00:00:00Z",
}


def test_every_field_of_an_entry_is_taken(alice: Caller) -> None:
    memory_id = alice.remember(**FULL)

    found = alice.get(f"memories/{memory_id}").json()
    assert {name: found[name] for name in FULL if name in found} == {
        **{name: FULL[name] for name in FULL if name in found},
        "source": "chat",
        "happened_at": "2026-05-01T09:00:00.000000Z",
        "valid_from": "2026-05-01T00:00:00.000000Z",
        "valid_to": "9998-01-01T00:00:00.000000Z",
    }
    assert found["ordinal"] == 3
    record = Record.objects.get()
    assert (record.consent_source, record.consent_scope) == ("user", "profile")
    assert record.lexical_text == "Ada moved Porto"
    assert record.embed_text == "Ada lives in Porto"
    assert record.expires_at is not None


def test_null_stands_for_the_default_of_an_entry(alice: Caller) -> None:
    names = "key consent sequence importance reflection lineage source embed_text"
    nothing = dict.fromkeys([*names.split(), "happened_at", "valid_to"])

    assert alice.remember("Tea", **nothing)


def test_a_conflict_is_a_409(alice: Caller) -> None:
    """B498."""
    memory_id = alice.remember("Tea", key="drink")
    alice.post(f"memories/{memory_id}/consent", {"visible": False})

    refused(alice.post("memories", {"text": "Milk", "key": "drink"}), 409, "conflict")


@override_settings(PRISM_MEMORY={"BATCH_ENTRIES": 2})
def test_a_batch_over_its_limit_is_a_422(alice: Caller) -> None:
    """B498."""
    entries = [{"text": str(n)} for n in range(3)]

    refused(alice.post("memories", {"entries": entries}), 422, "limit", "entries")


def pages(caller: Caller, limit: int, query: str = "") -> list[str]:
    texts: list[str] = []
    cursor = ""
    while True:
        answer = caller.get("memories", f"?limit={limit}{query}{cursor}")
        assert answer.status_code == 200, answer.content
        page = answer.json()
        assert len(page["items"]) <= limit
        texts += [item["text"] for item in page["items"]]
        if page["next_cursor"] is None:
            return texts
        cursor = f"&cursor={page['next_cursor']}"


@pytest.mark.parametrize("limit", [1, 7, 25, 200])
def test_a_list_ends_at_the_last_row(alice: Caller, limit: int) -> None:
    """case_C34."""
    texts = [f"memory {n}" for n in range(25)]
    alice.post("memories", {"entries": [{"text": text} for text in texts]})

    assert pages(alice, limit) == texts


def test_a_cursor_of_somebody_else_or_of_another_list_is_refused(
    alice: Caller, bob: Caller
) -> None:
    for caller in (alice, bob):
        caller.post("memories", {"entries": [{"text": f"m{n}"} for n in range(3)]})
    cursor = alice.get("memories", "?limit=1").json()["next_cursor"]

    refused(bob.get("memories", f"?cursor={cursor}"), 400, "validation", "cursor")
    narrowed = alice.get("memories", f"?cursor={cursor}&kinds=note")
    refused(narrowed, 400, "validation", "cursor")
    assert len(alice.get("memories", f"?cursor={cursor}").json()["items"]) == 2


def test_a_list_is_narrowed_by_what_is_asked(alice: Caller) -> None:
    alice.remember("a", kind="turn", namespace="x", metadata={"n": 2})
    alice.remember("b", kind="note", tier="semantic", partition="p", metadata={"n": 10})
    alice.remember("c", namespace="y", metadata={"n": "2", "tags": ["t", "u"]})

    def narrowed(query: str) -> list[str]:
        return alice.lists(f"?{query}")

    assert narrowed("kinds=turn&kinds=note") == ["a", "b"]
    assert narrowed("tiers=semantic") == ["b"]
    assert narrowed("tiers=") == ["a", "c"]
    assert narrowed("namespaces=x&namespaces=y") == ["a", "c"]
    assert narrowed("namespaces=") == ["b"]
    assert narrowed("tags=t&tags=v") == ["c"]
    assert narrowed("tags=") == []
    assert narrowed("partition=p") == ["b"]
    assert narrowed("filter=" + quote(json.dumps({"n": {"gt": 9}}))) == ["b"]
    assert narrowed("filter=" + quote(json.dumps({"n": 2}))) == ["a"]


FOREIGN_KEYS = [
    "x') OR 1=1 --",
    '"',
    "'",
    "\\",
    "%",
    "%s",
    "%(tenant)s",
    "{visible}",
    "$1",
    "a.b",
    "k" * 10_000,
]


@pytest.mark.parametrize("key", FOREIGN_KEYS)
def test_a_filters_key_is_a_key(alice: Caller, bob: Caller, key: str) -> None:
    """case_C03."""
    alice.remember("mine", metadata={key: "v"})
    alice.remember("other")
    bob.remember("foreign", metadata={key: "v"})

    assert alice.recalls("mine other foreign", filter={key: "v"}) == ["mine"]
    assert alice.recalls("mine other", filter={key: {"exists": True}}) == ["mine"]
    assert alice.recalls("mine", filter={key + "x": {"gt": 1}}) == []
    assert alice.lists("?filter=" + quote(json.dumps({key: "v"}))) == ["mine"]


def test_a_revoked_memory_is_gone_at_once_and_comes_back(alice: Caller) -> None:
    memory_id = alice.remember("Tea, not coffee")

    answer = alice.post(
        f"memories/{memory_id}/consent", {"visible": False, "reason": "asked to"}
    )

    assert answer.status_code == 204
    assert answer.content == b""
    assert alice.lists() == []
    assert alice.recalls("tea coffee") == []
    refused(alice.get(f"memories/{memory_id}"), 404, "not_visible")
    event = AuditEvent.objects.get(action="memory.set_consent")
    assert event.actor.startswith("key:")
    assert event.reason == "asked to"

    alice.post(f"memories/{memory_id}/consent", {"visible": True})
    assert alice.lists() == ["Tea, not coffee"]


def test_labels_of_a_consent_change_without_showing_anything(alice: Caller) -> None:
    memory_id = alice.remember("Tea", consent={"visible": False})

    body = {"source": "system", "label": "profile"}
    assert alice.post(f"memories/{memory_id}/consent", body).status_code == 204

    record = Record.objects.get()
    assert (record.consent_source, record.consent_scope) == ("system", "profile")
    assert alice.lists() == []


def test_a_reason_over_its_limit_is_refused(alice: Caller) -> None:
    """B498."""
    path = f"memories/{alice.remember('Tea')}/consent"
    body = {"visible": False, "reason": "a" * 1_001}

    refused(alice.post(path, body), 422, "limit", "reason")
    assert alice.lists() == ["Tea"]


@pytest.mark.parametrize("body", [{}, {"reason": "none"}])
def test_a_consent_that_changes_nothing_is_refused(
    alice: Caller, body: dict[str, Any]
) -> None:
    path = f"memories/{alice.remember('Tea')}/consent"

    refused(alice.post(path, body), 400, "validation")
    assert not AuditEvent.objects.filter(action="memory.set_consent").exists()


def test_memories_are_kept_out_of_caches(alice: Caller) -> None:
    assert alice.get("memories").headers["Cache-Control"] == "no-store"
    assert alice.get("memories/x").headers["Cache-Control"] == "no-store"
