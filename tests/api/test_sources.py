"""Documents over HTTP."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from prism_memory.models import AuditEvent, Record, Source
from prism_memory.types import Trust
from tests.api.conftest import ALICE, Caller, make_token, refused
from tests.api.test_openapi import validator

pytestmark = pytest.mark.django_db

TEXT = "# Tea\n\nTea is green.\n\n# Milk\n\nMilk is white.\n"
KEY = "hand/book ü?#1"
"""Any text is a key: slashes, blanks, a question mark."""


def put(caller: Caller, text: str = TEXT, key: str = KEY, **given: Any) -> Any:
    return caller.request("PUT", f"source?key={quote(key)}", {"text": text, **given})


def ask(caller: Caller, verb: str, *, query: str = "", key: str = KEY) -> Any:
    return caller.get(f"source{verb}?key={quote(key)}{query}")


def act(caller: Caller, verb: str, key: str = KEY) -> Any:
    return caller.post(f"source/{verb}?key={quote(key)}", {"reason": "old"})


def test_a_document_is_stored_read_and_changed(alice: Caller) -> None:
    """B233, B272, B276, B277."""
    first = put(alice, uri="https://example.org/book", wait=True, metadata={"n": 1})
    validator("IngestedOutput").validate(first.json())
    assert (first.json()["added"], first.json()["unchanged"]) == (2, False)
    page = ask(alice, "/chunks").json()
    validator("ChunkPageOutput").validate(page)
    shown = [(chunk["citation"], chunk["line_start"]) for chunk in page["items"]]
    assert shown == [(f"{KEY}#0001", 1), (f"{KEY}#0002", 5)]
    for chunk in page["items"]:
        assert TEXT[chunk["offset_start"] : chunk["offset_end"]] == chunk["text"]
        assert chunk["metadata"]["n"] == 1
    changed = put(
        alice,
        TEXT.replace("white", "cold"),
        uri="https://example.org/book",
        metadata={"n": 1},
    ).json()
    assert (changed["added"], changed["kept"], changed["retired"]) == (1, 1, 1)
    assert "Milk is cold." in alice.recalls("cold milk", kinds=["chunk"])[0]


def test_a_source_tells_where_it_is_from_and_how_far_it_is(alice: Caller) -> None:
    """B238, B273: trust and writer are the key's."""
    put(alice, wait=True)
    found = ask(alice, "").json()
    validator("SourceOutput").validate(found)
    assert (found["key"], found["kind"], found["trust"]) == (KEY, "document", "agent")
    assert found["ingestion"]["state"] == "indexed"
    status = ask(alice, "/status").json()
    validator("IngestionOutput").validate(status)
    assert (status["state"], status["chunks"]) == ("indexed", 2)
    assert status["bytes"] == len(TEXT)


def test_lists_page_to_the_end_and_bound_their_pages(alice: Caller) -> None:
    """B238, case_C34."""
    keys = [f"doc {n}" for n in range(5)]
    for key in keys:
        put(alice, key=key)
    seen: list[str] = []
    query = "?limit=2"
    while query:
        page = alice.get("sources", query).json()
        validator("SourcePageOutput").validate(page)
        seen += [item["key"] for item in page["items"]]
        cursor = page["next_cursor"]
        query = f"?limit=2&cursor={quote(cursor)}" if cursor else ""
    assert seen == keys
    first = ask(alice, "/chunks", key="doc 0", query="&limit=1").json()
    rest = f"&limit=1&cursor={quote(first['next_cursor'])}"
    second = ask(alice, "/chunks", key="doc 0", query=rest).json()
    citations = [page["items"][0]["citation"] for page in (first, second)]
    assert citations == ["doc 0#0001", "doc 0#0002"]
    refused(alice.get("sources", "?limit=201"), 422, "limit", "limit")


def test_retired_restored_and_deleted_with_a_reason(alice: Caller) -> None:
    """B237, B286: readable by id while it is retired."""
    put(alice)
    chunk_id = ask(alice, "/chunks").json()["items"][0]["id"]
    done = act(alice, "retire").json()
    validator("RetiredSourceOutput").validate(done)
    assert (done["chunks"], done["changed"]) == (2, True)
    assert alice.recalls("tea", kinds=["chunk"]) == []
    assert ask(alice, "").json()["state"] == "retired"
    assert alice.get(f"memories/{chunk_id}").status_code == 200
    refused(put(alice), 409, "conflict")
    assert act(alice, "restore").json()["chunks"] == 2
    assert len(alice.recalls("tea", kinds=["chunk"])) == 2
    gone = alice.request("DELETE", f"source?key={quote(KEY)}").json()
    validator("DeletedSourceOutput").validate(gone)
    assert (gone["found"], gone["deleted"]) == (True, 2)
    assert not Record.objects.filter(kind="chunk").exists()
    refused(ask(alice, ""), 404, "not_visible")
    again = alice.request("DELETE", f"source?key={quote(KEY)}").json()
    assert (again["found"], again["deleted"]) == (False, 0)
    assert AuditEvent.objects.filter(reason="old").count() == 2


def test_strangers_find_nothing_and_change_nothing(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    """B497: another owner, another tenant, and a thread that is only below."""
    put(alice)
    for stranger in (bob, carol):
        assert stranger.get("sources").json()["items"] == []
        for verb in ("", "/status", "/chunks"):
            refused(ask(stranger, verb), 404, "not_visible")
    below = alice.sends(thread="t1")
    assert ask(below, "").status_code == 200  # in sight from below
    for other in (bob, carol, below):
        for verb in ("retire", "restore"):
            refused(act(other, verb), 404, "not_visible")
        gone = other.request("DELETE", f"source?key={quote(KEY)}").json()
        assert gone["found"] is False
    assert put(bob, "Bob's own.").json()["added"] == 1
    assert Source.objects.get(scope__owner="alice").state == "active"
    assert Record.objects.filter(scope__owner="alice", retired_at=None).count() == 2


def test_what_is_no_document_is_refused_and_stores_nothing(alice: Caller) -> None:
    """B273, case_C27: nothing in the request says whose words they are."""
    for given, field in (
        ({"trust": "user"}, "trust"),
        ({"writer": "me"}, "writer"),
        ({"chunker": {"name": "own"}}, "chunker.name"),
        ({"chunker": {"name": "markdown", "overlap": 5}}, "chunker.overlap"),
        ({"generation": -1}, "generation"),
        ({"text": 5}, "text"),
    ):
        refused(put(alice, **given), 400, "validation", field)
    wide = {"name": "text", "size": 100, "overlap": 100}
    assert put(alice, chunker=wide).status_code == 422
    refused(put(alice, key="k" * 257), 422, "limit", "key")
    refused(alice.request("PUT", "source", {"text": TEXT}), 400, "validation", "key")
    alice.remember("Hello", kind="turn", source={"key": "chat", "ordinal": 0})
    refused(put(alice, key="chat"), 409, "conflict")
    assert not Record.objects.filter(kind="chunk").exists()


def test_a_chunker_is_chosen_by_name(alice: Caller) -> None:
    """B233."""
    put(alice, "One. " * 100, chunker={"name": "text", "size": 100, "overlap": 10})
    found = ask(alice, "").json()
    assert found["chunker"].startswith("text")
    assert found["ingestion"]["chunks"] > 5


def test_the_credentials_say_who_vouches(alice: Caller) -> None:
    """B275."""
    from_tool = Caller(make_token(ALICE, trust=Trust.TOOL))
    put(from_tool)
    assert ask(alice, "").json()["trust"] == "tool"
