"""Correct a memory, and read how its consent came about, over HTTP."""

from __future__ import annotations

import uuid
from urllib.parse import quote

import pytest

from prism_memory.models import AuditEvent, Record
from prism_memory.types import Permission
from tests.api.conftest import ALICE, Caller, make_token, refused
from tests.factories import make_record, make_tombstone

pytestmark = pytest.mark.django_db

OLD, NEW = "Alice lives in Lisbon.", "Alice lives in Porto."


class TestCorrection:
    def test_it_replaces_the_words_and_blocks_what_derives(self, alice: Caller) -> None:
        """B144, B145, case_C36."""
        memory_id = alice.remember(OLD, key="home", metadata={"n": 1})
        alice.remember("She likes trams.", lineage={"source_ids": ["home"]})

        answer = alice.post(
            f"memories/{memory_id}/correction", {"text": NEW, "reason": "asked to"}
        )

        assert answer.status_code == 200, answer.content
        assert answer.json() == {
            "id": memory_id,
            "version": 2,
            "changed": True,
            "blocked": 1,
            "pending": True,
        }
        found = alice.get(f"memories/{memory_id}").json()
        assert (found["text"], found["key"], found["metadata"]) == (
            NEW,
            "home",
            {"n": 1},
        )
        assert alice.lists() == [NEW]
        event = AuditEvent.objects.get(action="memory.correct")
        assert (event.target, event.reason) == (f"record:{memory_id}", "asked to")

    def test_the_same_words_again_say_so(self, alice: Caller) -> None:
        memory_id = alice.remember(OLD)
        answer = alice.post(f"memories/{memory_id}/correction", {"text": OLD})
        assert answer.json()["changed"] is False
        assert not AuditEvent.objects.filter(action="memory.correct").exists()

    def test_revoked_and_held_ones_are_a_conflict(self, alice: Caller) -> None:
        """B150."""
        revoked = alice.remember(OLD)
        alice.post(f"memories/{revoked}/consent", {"visible": False})
        held = make_record("Held.", scope=ALICE)
        make_tombstone(held, reason="legal_hold", hold=True)
        for memory_id in (revoked, held.id):
            answer = alice.post(f"memories/{memory_id}/correction", {"text": NEW})
            refused(answer, 409, "conflict", "id")

    def test_the_old_words_remembered_again_are_a_conflict(self, alice: Caller) -> None:
        memory_id = alice.remember(OLD)
        alice.post(f"memories/{memory_id}/correction", {"text": NEW})
        answer = alice.post("memories", {"text": OLD})
        refused(answer, 409, "conflict", "key")
        assert OLD not in answer.text

    @pytest.mark.parametrize(
        ("body", "status", "field"),
        [
            ({}, 400, "text"),
            ({"text": ""}, 400, "text"),
            ({"text": " "}, 400, "text"),
            ({"text": 5}, 400, "text"),
            ({"text": None}, 400, "text"),
            ({"text": "a\0"}, 400, "text"),
            ('{"text": "\\ud800"}', 400, "text"),
            ({"text": "x" * 16_385}, 422, "text"),
            ({"text": NEW, "reason": "x" * 1_001}, 422, "reason"),
            ({"text": NEW, "key": "k"}, 400, None),
        ],
    )
    def test_what_cannot_be_stored_is_refused(
        self, alice: Caller, body: object, status: int, field: str | None
    ) -> None:
        """case_C21."""
        memory_id = alice.remember(OLD)
        answer = alice.post(f"memories/{memory_id}/correction", body)
        assert answer.status_code == status, answer.content
        assert answer.json().get("field") == field
        assert alice.lists() == [OLD]

    def test_too_much_lineage_is_refused_and_nothing_is_done(
        self, alice: Caller
    ) -> None:
        memory_id = alice.remember(OLD, key="d0")
        for depth in range(9):
            alice.remember(
                f"{depth}", key=f"d{depth + 1}", lineage={"source_ids": [f"d{depth}"]}
            )
        answer = alice.post(f"memories/{memory_id}/correction", {"text": NEW})
        refused(answer, 422, "limit", "lineage")
        assert len(alice.lists()) == 10


class TestHistory:
    def test_it_tells_each_decision_the_oldest_first(self, alice: Caller) -> None:
        memory_id = alice.remember(OLD, consent={"label": "profile"})
        for body in ({"visible": False}, {"visible": True}, {"label": "user"}):
            alice.post(f"memories/{memory_id}/consent", body)

        answer = alice.get(f"memories/{memory_id}/consent")

        assert answer.status_code == 200, answer.content
        page = answer.json()
        assert [(d["visible"], d["label"]) for d in page["decisions"]] == [
            (True, "profile"),
            (False, "profile"),
            (True, "profile"),
            (True, "user"),
        ]
        assert [d["revoked_at"] is None for d in page["decisions"]] == [
            True,
            False,
            True,
            True,
        ]
        assert {d["source"] for d in page["decisions"]} == {"agent"}
        assert page["next_cursor"] is None
        assert OLD not in answer.text

    def test_it_pages_to_the_last_decision(self, alice: Caller) -> None:
        """case_C34."""
        memory_id = alice.remember(OLD)
        for number in range(5):
            body = {"visible": bool(number % 2)}
            alice.post(f"memories/{memory_id}/consent", body)
        path, query, seen = f"memories/{memory_id}/consent", "?limit=2", []
        while query:
            page = alice.get(path, query).json()
            seen += [d["visible"] for d in page["decisions"]]
            cursor = page["next_cursor"]
            query = cursor and f"?limit=2&cursor={quote(cursor)}"
        assert seen == [False, True, False, True, False]

    @pytest.mark.parametrize("cursor", ["x", "0", str(uuid.UUID(int=7)), "%00"])
    def test_a_cursor_of_another_list_is_refused(
        self, alice: Caller, cursor: str
    ) -> None:
        memory_id = alice.remember(OLD)
        answer = alice.get(f"memories/{memory_id}/consent", f"?cursor={cursor}")
        assert answer.status_code == 400, answer.content
        assert answer.json()["field"] == "cursor"

    def test_a_hidden_one_has_its_history(self, alice: Caller) -> None:
        memory_id = alice.remember(OLD)
        alice.post(f"memories/{memory_id}/consent", {"visible": False})
        assert alice.get(f"memories/{memory_id}").status_code == 404
        page = alice.get(f"memories/{memory_id}/consent").json()
        assert [d["visible"] for d in page["decisions"]] == [False]


def test_strangers_find_neither(alice: Caller, bob: Caller, carol: Caller) -> None:
    """B25, B497: foreign and unknown look the same, and nothing happens."""
    memory_id = alice.remember(OLD, consent={"visible": True})
    odd = ["x", "%00", "%F0%9F%98%80", quote("' OR 1=1 --"), "0" * 300]
    wanted = [memory_id, uuid.uuid4(), *odd]
    for caller in (bob, carol, alice.sends(thread="t1"), alice.sends(agent="a")):
        answers = [
            *(caller.post(f"memories/{i}/correction", {"text": NEW}) for i in wanted),
            *(caller.get(f"memories/{i}/consent") for i in wanted),
        ]
        assert {answer.content for answer in answers} == {answers[0].content}
        for answer in answers:
            refused(answer, 404, "not_visible")
    assert Record.objects.get(id=memory_id).version == 1


@pytest.mark.parametrize(
    "permission", [Permission.READ, Permission.WRITE, Permission.OPERATE]
)
def test_both_need_govern(alice: Caller, permission: Permission) -> None:
    memory_id = alice.remember(OLD)
    other = Caller(make_token(ALICE, (permission,)))
    for answer in (
        other.post(f"memories/{memory_id}/correction", {"text": NEW}),
        other.get(f"memories/{memory_id}/consent"),
    ):
        refused(answer, 403, "permission", "permission")
    assert alice.lists() == [OLD]
