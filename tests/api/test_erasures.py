"""Erase over HTTP: who may, how far, and what comes back."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from prism_memory.governance import erasure
from prism_memory.models import Record
from prism_memory.types import Permission, Scope
from tests.api.conftest import ALICE, Caller, make_token, refused

pytestmark = pytest.mark.django_db

GOVERN = (Permission.READ, Permission.WRITE, Permission.GOVERN)


def finish(answer: Any, tenant: str = "acme") -> None:
    """Be the worker."""
    assert answer.status_code == 202, answer.content
    run_id = uuid.UUID(answer.json()["id"])
    erasure.resume_erasure(using="default", tenant=tenant, run_id=run_id)


def test_a_memory_is_erased_at_once(alice: Caller) -> None:
    gone, stays = alice.remember("gone"), alice.remember("stays")

    answer = alice.post("erasures", {"memory": gone, "reason": "asked"})

    assert answer.status_code == 202
    body = answer.json()
    assert (body["state"], body["target_ref"]) == ("done", f"record:{gone}")
    assert body["receipt"]["counts"]["prism_memory_record"] == 1
    assert body["receipt"]["kinds"] == {"entry": 1}
    assert alice.get(f"memories/{gone}").status_code == 404
    assert alice.get(f"memories/{stays}").status_code == 200
    again = alice.get(f"erasures/{body['id']}").json()
    assert again["receipt"] == body["receipt"]


def test_a_source_is_erased_with_its_records(alice: Caller) -> None:
    """B320, B323."""
    alice.remember("said", kind="turn", source={"key": "call-1", "ordinal": 0})

    receipt = alice.post("erasures", {"source": "call-1"}).json()["receipt"]
    nothing = alice.post("erasures", {"source": "call-1"}).json()["receipt"]

    assert receipt["found"]
    assert receipt["counts"]["prism_memory_source"] == 1
    assert not nothing["found"]
    assert nothing["counts"] == {}


def test_a_whole_scope_is_erased_by_a_worker(alice: Caller) -> None:
    thread = alice.sends(agent="support", thread="t1")
    thread.remember("in the thread")
    alice.remember("at the owner's")

    answer = thread.post("erasures", {"everything": True})
    assert answer.json()["state"] == "running"
    finish(answer)

    assert alice.lists() == ["at the owner's"]
    state = alice.get(f"erasures/{answer.json()['id']}").json()
    assert (state["state"], state["receipt"]["level"]) == ("done", "thread")
    listed = alice.get("erasures").json()
    assert [one["id"] for one in listed["items"]] == [state["receipt"]["id"]]


def test_a_key_that_erases_its_owner_goes_with_it(alice: Caller, bob: Caller) -> None:
    alice.remember("alice's")
    bob.remember("bob's")

    finish(alice.post("erasures", {"everything": True}))

    assert alice.get("memories").status_code == 401
    assert bob.lists() == ["bob's"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"everything": False},
        {"memory": str(uuid.uuid4()), "source": "a"},
        {"source": "a", "everything": True},
        {"memory": "none"},
        {"source": ""},
        {"owner": "bob", "everything": True},
        {"memory": None},
    ],
)
def test_nothing_left_out_means_everything(alice: Caller, body: Any) -> None:
    """case_C04."""
    alice.remember("stays")

    assert alice.post("erasures", body).status_code == 400
    assert Record.objects.count() == 1


def test_more_than_a_thread_needs_operate(alice: Caller) -> None:
    alice.remember("stays")
    governor = Caller(make_token(ALICE, GOVERN))
    agent = governor.sends(agent="support")

    for caller in (governor, agent):
        answer = caller.post("erasures", {"everything": True})
        refused(answer, 403, "permission", "permission")
    thread = agent.sends(agent="support", thread="t1")
    assert thread.post("erasures", {"everything": True}).status_code == 202


def test_a_key_erases_nothing_beside_or_above_its_scope(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    """Unknown and foreign look the same."""
    memory_id = alice.remember("stays")
    thread = Caller(make_token(Scope("acme", "alice", "support", "t1")))
    for stranger in (bob, carol, thread):
        receipt = stranger.post("erasures", {"memory": memory_id}).json()["receipt"]
        assert not receipt["found"]
        stranger.post("erasures", {"everything": True})
    refused(thread.sends(thread="t2").post("erasures", {"source": "a"}), 403, "scope")
    assert alice.lists() == ["stays"]


def test_receipts_are_seen_from_their_scope_and_above_alone(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    thread = alice.sends(agent="support", thread="t1")
    gone = thread.remember("gone")
    done = thread.post("erasures", {"memory": gone}).json()["id"]
    tenant = Caller(make_token(Scope("acme")))
    beside = alice.sends(agent="support", thread="t2")

    for caller in (thread, alice, tenant):
        assert caller.get(f"erasures/{done}").status_code == 200
        assert len(caller.get("erasures").json()["items"]) == 1
    for caller in (bob, carol, beside):
        refused(caller.get(f"erasures/{done}"), 404, "not_visible")
        assert caller.get("erasures").json()["items"] == []


def test_receipts_page_to_the_last(alice: Caller) -> None:
    """case_C34."""
    for i in range(5):
        alice.post("erasures", {"source": f"s{i}"})
    seen, cursor = [], ""
    while True:
        page = alice.get("erasures", f"?limit=2{cursor}").json()
        seen += [one["id"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, reverse=True)


def test_a_preview_tells_what_the_receipt_tells(alice: Caller) -> None:
    thread = alice.sends(agent="support", thread="t1")
    gone = thread.remember("gone")
    thread.remember("gone too")

    one = thread.get("erasures/preview", f"?memory={gone}").json()
    done = thread.post("erasures", {"memory": gone}).json()["receipt"]
    assert (one["counts"], one["kept"]) == (done["counts"], done["kept"])
    assert one["counts"]["prism_memory_record"] == 1

    seen = thread.get("erasures/preview").json()
    assert seen["level"] == "thread"
    started = thread.post("erasures", {"everything": True})
    finish(started)
    done = thread.get(f"erasures/{started.json()['id']}").json()["receipt"]
    assert (seen["counts"], seen["kept"]) == (done["counts"], done["kept"])
    assert not thread.get("erasures/preview").json()["found"]


def test_a_preview_tells_strangers_nothing(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    thread = alice.sends(agent="support", thread="t1")
    kept = thread.remember("kept")
    other = Caller(make_token(Scope("acme", "alice", "support", "t2")))
    for stranger in (bob, carol, other, alice.sends(agent="support", thread="t2")):
        for query in ("", f"?memory={kept}", f"?memory={uuid.uuid4()}", "?source=a"):
            seen = stranger.get("erasures/preview", query).json()
            assert "prism_memory_record" not in seen["counts"], query
            assert not any(seen["kept"].values()), query
            assert seen["found"] is (query == ""), query  # its own key
    refused(other.sends(thread="t1").get("erasures/preview"), 403, "scope")


@pytest.mark.parametrize(
    "query", ["?memory=x", "?memory=", "?source=", "?everything=true", "?a=b"]
)
def test_a_preview_of_what_is_malformed_is_refused(alice: Caller, query: str) -> None:
    refused(alice.get("erasures/preview", query), 400, "validation")
