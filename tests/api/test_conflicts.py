"""Claims in plain words over HTTP, and those that wait beside others."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from prism_memory.models import ConflictDecision, Fact
from prism_memory.types import Permission, Trust
from tests.api.conftest import ALICE, BOB, Caller, make_token, refused
from tests.facts.near import planned
from tests.tables import counts

pytestmark = pytest.mark.django_db

PORTO, CELLO = "Ada lives in Porto", "Ada plays the cello"


@pytest.fixture(autouse=True)
def _near() -> Iterator[None]:
    with planned({CELLO: 0.6}):
        yield


@pytest.fixture
def user(db: None) -> Caller:
    return Caller(make_token(ALICE, trust=Trust.USER))


def remember(caller: Caller, text: str, **given: Any) -> dict[str, Any]:
    answer = caller.post("facts/remember", {"text": text, **given})
    assert answer.status_code in {200, 201}, answer.content
    found: dict[str, Any] = answer.json()
    return found


def conflict(caller: Caller) -> tuple[dict[str, Any], dict[str, Any]]:
    """Remember two claims that nothing tells apart; return both."""
    return remember(caller, PORTO), remember(caller, CELLO)


class TestRemembering:
    def test_the_same_words_are_stored_once(self, user: Caller) -> None:
        """B330, B333: 201, then 200."""
        body = {"text": PORTO, "tags": ["city"]}
        first, again = (
            user.post("facts/remember", body),
            user.post("facts/remember", {"text": PORTO.upper()}),
        )
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["fact"]["acceptance"] == "accepted"
        assert again.json()["verdict"] == "dedup"
        assert again.json()["fact"]["id"] == first.json()["fact"]["id"]
        assert Fact.objects.count() == 1
        listed = user.get("facts").json()["items"]
        assert [fact["text"] for fact in listed] == [PORTO]

    def test_nobody_vouches_for_themselves(self, alice: Caller) -> None:
        """B347, case_C27: a provenance lowers what a key is worth, or is refused."""
        answer = alice.post("facts/remember", {"text": PORTO, "provenance": "user"})
        refused(answer, 400, "validation", "provenance")
        for name in ("trust", "acceptance", "gate", "pipeline"):
            refused(
                alice.post("facts/remember", {"text": PORTO, name: "user"}),
                400,
                "validation",
            )
        made = remember(alice, PORTO, provenance="reflection")
        assert (made["fact"]["gate"], made["quarantine_reason"]) == (
            "quarantined",
            "synthesized",
        )
        assert alice.get("facts").json()["items"] == []


class TestSettling:
    def test_one_waits_and_is_settled_once(self, user: Caller) -> None:
        """B340."""
        old, new = conflict(user)
        assert new["verdict"] == "pending"
        (found,) = user.get("conflicts").json()["items"]
        assert (found["id"], found["fact"]["text"]) == (new["conflict"], CELLO)
        assert [other["id"] for other in found["others"]] == [old["fact"]["id"]]
        route = f"conflicts/{found['id']}/settle"
        odd = {"verdict": "admit", "other": str(uuid.uuid4())}
        refused(user.post(route, odd), 400, "validation", "other")
        refused(user.post(route, {"verdict": "pending"}), 400, "validation", "verdict")
        done = user.post(route, {"verdict": "admit", "reason": "both hold"})
        assert done.json() == {
            "verdict": "admit",
            "fact": new["fact"]["id"],
            "target": None,
            "linked": False,
        }
        refused(user.post(route, {"verdict": "dedup"}), 409, "conflict", "id")
        assert user.get("conflicts").json()["items"] == []
        assert user.get("reviews").json()["items"] == []

    def test_it_is_decided_as_a_review_too(self, user: Caller) -> None:
        old, new = conflict(user)
        (review,) = user.get("reviews", "?why=conflict").json()["items"]
        assert review["fact"]["id"] == new["fact"]["id"]
        route = f"reviews/{review['id']}/decide"
        refused(user.post(route, {"decision": "accept"}), 400, "validation", "decision")
        done = user.post(route, {"decision": "supersede"})
        assert (done.json()["decision"], done.json()["replaced"]) == ("settled", True)
        assert (
            str(Fact.objects.get(id=old["fact"]["id"]).superseded_by)
            == (new["fact"]["id"])
        )
        refused(user.post(route, {"decision": "dedup"}), 409, "conflict", "id")

    def test_strangers_neither_see_nor_settle(
        self, user: Caller, carol: Caller
    ) -> None:
        """B25, B497."""
        _, new = conflict(user)
        bob = Caller(make_token(BOB))
        agent = Caller(make_token(ALICE, (Permission.READ, Permission.WRITE)))
        before = counts()
        for caller in (bob, carol, user.sends(thread="t1")):
            assert caller.get("conflicts").json()["items"] == []
            for known in (new["conflict"], uuid.uuid4(), "x"):
                answer = caller.post(f"conflicts/{known}/settle", {"verdict": "admit"})
                refused(answer, 404, "not_visible")
        refused(agent.get("conflicts"), 403, "permission")
        assert counts() == before
        assert ConflictDecision.objects.filter(settled_at=None).exists()
