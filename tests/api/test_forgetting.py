"""Delete over HTTP: by id, several, a thread; and what keeps from it."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote

import pytest

from prism_memory.models import AuditEvent, Record
from prism_memory.types import Permission
from tests.api.conftest import ALICE, Caller, make_token, refused

pytestmark = pytest.mark.django_db

SECRET = "The safe's number is 4711."
ODD = ["x", "%00", quote("' OR 1=1 --"), "0" * 300]


@pytest.fixture
def memory_id(alice: Caller) -> str:
    return alice.remember(SECRET, key="safe")


class TestOne:
    def test_it_is_gone_with_what_is_derived(
        self, alice: Caller, memory_id: str
    ) -> None:
        """B147, case_C36."""
        alice.remember("of it", lineage={"source_ids": ["safe"]})
        answer = alice.request("DELETE", f"memories/{memory_id}?reason=asked")
        assert (answer.status_code, answer.content) == (204, b"")
        assert not Record.objects.exists()
        event = AuditEvent.objects.get(action="memory.forget")
        assert (event.reason, event.target) == ("asked", f"record:{memory_id}")
        assert event.actor.startswith("key:")
        refused(alice.request("DELETE", f"memories/{memory_id}"), 404, "not_visible")

    def test_a_hold_is_a_conflict_that_tells_no_words(
        self, alice: Caller, memory_id: str
    ) -> None:
        """B154."""
        alice.post("holds", {"memory": memory_id, "matter": "case 7"})
        answer = alice.request("DELETE", f"memories/{memory_id}")
        refused(answer, 409, "conflict")
        assert answer.json()["detail"] == "A legal hold keeps it."
        assert "4711" not in answer.text
        assert alice.lists() == [SECRET]

    def test_a_foreign_id_and_an_unknown_one_look_the_same(
        self, alice: Caller, bob: Caller, carol: Caller, memory_id: str
    ) -> None:
        """B25, case_C02."""
        for caller in (bob, carol, alice.sends(thread="t1")):
            answers = [
                caller.request("DELETE", f"memories/{known}")
                for known in (memory_id, uuid.uuid4(), *ODD)
            ]
            assert {answer.content for answer in answers} == {answers[0].content}
            for answer in answers:
                refused(answer, 404, "not_visible")
        assert alice.lists() == [SECRET]
        assert not AuditEvent.objects.filter(action="memory.forget").exists()

    def test_a_body_or_a_name_that_is_not_asked_for_is_refused(
        self, alice: Caller, memory_id: str
    ) -> None:
        for query in ("?hold=true", "?owner=bob", "?reason=a&reason=b"):
            answer = alice.request("DELETE", f"memories/{memory_id}{query}")
            refused(answer, 400, "validation")
        assert alice.lists() == [SECRET]


class TestSeveral:
    def test_counts_come_back(self, alice: Caller, bob: Caller, memory_id: str) -> None:
        """B147."""
        theirs, kept = bob.remember("Bob's"), alice.remember("kept")
        alice.post("holds", {"memory": kept})
        given = {"ids": [memory_id, kept, theirs], "reason": "asked"}
        answer = alice.post("memories/forget", given)
        assert answer.json() == {
            "deleted": 1,
            "kept": [kept],
            "blocked": 1,
            "missing": [theirs],
            "lifted": 0,
        }
        assert bob.lists() == ["Bob's"]
        assert alice.lists() == ["kept"]

    def test_no_ids_are_nothing_and_no_list_is_refused(
        self, alice: Caller, memory_id: str
    ) -> None:
        """case_C04."""
        assert alice.post("memories/forget", {"ids": []}).json()["deleted"] == 0
        for body in ({}, {"ids": None}, {"ids": "all"}, {"ids": ["*"]}):
            refused(alice.post("memories/forget", body), 400, "validation", None)
        ids = [str(uuid.uuid4()) for _ in range(257)]
        refused(alice.post("memories/forget", {"ids": ids}), 422, "limit", "ids")
        assert alice.get(f"memories/{memory_id}").status_code == 200

    @pytest.mark.parametrize("restore", [False, True])
    def test_hidden_for_a_hold_and_released(
        self, alice: Caller, memory_id: str, restore: bool
    ) -> None:
        """B152."""
        hidden = alice.post("memories/forget", {"ids": [memory_id], "hold": True})
        assert hidden.json() | {"lifted": 0} == {
            "deleted": 0,
            "kept": [memory_id],
            "blocked": 1,
            "missing": [],
            "lifted": 0,
        }
        assert alice.lists() == []
        assert Record.objects.count() == 1
        given = {"ids": [memory_id], "restore": restore}
        answer = alice.post("memories/release-forgotten", given)
        assert answer.json()["lifted"] == 1
        assert answer.json()["deleted"] == (0 if restore else 1)
        assert alice.lists() == ([SECRET] if restore else [])


class TestAThread:
    def test_all_of_it_goes_and_nothing_above(self, alice: Caller) -> None:
        """B148."""
        alice.remember("Alice's own")
        first, second = alice.sends(thread="t1"), alice.sends(thread="t2")
        first.remember("one")
        first.remember("two")
        second.remember("three")
        answer = first.post("memories/forget-thread", {"reason": "asked"})
        assert answer.json()["deleted"] == 2
        assert first.lists() == ["Alice's own"]
        assert set(second.lists()) == {"Alice's own", "three"}

    def test_without_a_thread_it_is_refused(
        self, alice: Caller, memory_id: str
    ) -> None:
        """case_C04: a header that got lost must not mean all of the owner."""
        refused(alice.post("memories/forget-thread"), 403, "scope", "scope")
        assert alice.get(f"memories/{memory_id}").status_code == 200


class TestHolds:
    def test_placed_listed_and_released(self, alice: Caller, memory_id: str) -> None:
        """B154, case_C36."""
        body = {"memory": memory_id, "matter": "case 7", "reason": "court"}
        placed = alice.post("holds", body)
        assert placed.status_code == 201
        assert placed.json()["target"] == f"record:{memory_id}"
        assert placed.json()["level"] == "record"
        assert placed.json()["where"] == "here"
        assert placed.json()["scope"] == {"owner": "alice", "agent": "", "thread": ""}
        again = alice.post("holds", body)
        assert (again.status_code, again.json()) == (200, placed.json())
        assert alice.get("holds").json() == {
            "items": [placed.json()],
            "next_cursor": None,
        }
        path = f"holds/{placed.json()['id']}?reason=over"
        assert alice.request("DELETE", path).status_code == 204
        assert alice.get("holds").json()["items"] == []
        refused(alice.request("DELETE", path), 409, "conflict")
        assert alice.request("DELETE", f"memories/{memory_id}").status_code == 204

    def test_of_all_of_the_scope_below_it_too(self, alice: Caller) -> None:
        thread = alice.sends(thread="t1")
        one = thread.remember("one")
        placed = alice.post("holds", {}).json()
        assert (placed["level"], placed["matter"]) == ("scope", "")
        refused(thread.request("DELETE", f"memories/{one}"), 409, "conflict")
        assert [held["id"] for held in thread.get("holds").json()["items"]] == [
            placed["id"]
        ]
        path = f"holds/{placed['id']}"
        refused(thread.request("DELETE", path), 404, "not_visible")

    def test_of_a_source_by_its_key(self, alice: Caller) -> None:
        body = {"text": "one", "kind": "turn", "source": {"key": "chat"}}
        assert alice.post("memories", body).status_code == 201
        placed = alice.post("holds", {"source": "chat"})
        assert (placed.status_code, placed.json()["level"]) == (201, "source")
        known = placed.json()["target"].removeprefix("source:")
        assert alice.post("holds", {"source": known}).status_code == 200
        refused(alice.post("holds", {"source": "none"}), 404, "not_visible")

    def test_those_below_are_listed_with_where_they_are(self, alice: Caller) -> None:
        thread = alice.sends(agent="support", thread="t1")
        placed = thread.post("holds", {}).json()
        beside = alice.sends(agent="support", thread="t2")
        assert beside.get("holds").json()["items"] == []
        (seen,) = alice.get("holds").json()["items"]
        assert (seen["id"], seen["where"]) == (placed["id"], "below")
        assert seen["scope"] == {"owner": "alice", "agent": "support", "thread": "t1"}

    def test_strangers_neither_place_see_nor_release(
        self, alice: Caller, bob: Caller, carol: Caller, memory_id: str
    ) -> None:
        """B25, case_C02."""
        placed = alice.post("holds", {"memory": memory_id}).json()["id"]
        for caller in (bob, carol):
            assert caller.get("holds").json()["items"] == []
            for known in (memory_id, str(uuid.uuid4())):
                for kind in ("memory", "source"):
                    answer = caller.post("holds", {kind: known})
                    refused(answer, 404, "not_visible")
            for known in (placed, uuid.uuid4(), *ODD):
                answer = caller.request("DELETE", f"holds/{known}")
                refused(answer, 404, "not_visible")
        assert len(alice.get("holds").json()["items"]) == 1

    @pytest.mark.parametrize(
        "body", [{"memory": "x"}, {"memory": None}, {"thread": "t"}, {"matter": 7}]
    )
    def test_a_body_that_is_not_acceptable_holds_nothing(
        self, alice: Caller, body: Any
    ) -> None:
        """case_C04: what is malformed must not come to mean the whole scope."""
        refused(alice.post("holds", body), 400, "validation")
        assert alice.get("holds").json()["items"] == []


class TestTombstones:
    def test_pages_of_what_is_blocked_and_no_words(
        self, alice: Caller, bob: Caller, carol: Caller
    ) -> None:
        """B169, case_C34."""
        ids = [alice.remember(f"{SECRET} {n}") for n in range(3)]
        alice.post("memories/forget", {"ids": ids[:2], "reason": "asked"})
        alice.post(f"memories/{ids[2]}/consent", {"visible": False})
        first = alice.get("tombstones", "?limit=2")
        rest = alice.get("tombstones", f"?limit=2&cursor={first.json()['next_cursor']}")
        items = first.json()["items"] + rest.json()["items"]
        assert rest.json()["next_cursor"] is None
        assert {item["target"] for item in items} == {f"record:{i}" for i in ids}
        reasons = sorted(item["reason"] for item in items)
        assert reasons == ["forgotten", "forgotten", "revoked"]
        assert "4711" not in first.text + rest.text
        for caller in (bob, carol, alice.sends(thread="t1")):
            assert caller.get("tombstones").json()["items"] == []
            cursor = first.json()["next_cursor"]
            answer = caller.get("tombstones", f"?cursor={cursor}")
            refused(answer, 400, "validation", "cursor")

    def test_a_cursor_that_is_none_is_refused(self, alice: Caller) -> None:
        for cursor in ("x", "%FF", "0" * 5_000):
            answer = alice.get("tombstones", f"?cursor={cursor}")
            refused(answer, 400, "validation")


def test_an_agents_key_neither_forgets_nor_holds(memory_id: str) -> None:
    """case_C27: what may write may not govern."""
    agent = Caller(make_token(ALICE, (Permission.READ, Permission.WRITE)))
    asked = [
        agent.request("DELETE", f"memories/{memory_id}"),
        agent.post("memories/forget", {"ids": [memory_id]}),
        agent.post("memories/release-forgotten", {"ids": [memory_id]}),
        agent.sends(thread="t1").post("memories/forget-thread"),
        agent.post("holds", {"memory": memory_id}),
        agent.get("holds"),
        agent.get("tombstones"),
    ]
    for answer in asked:
        refused(answer, 403, "permission", "permission")
