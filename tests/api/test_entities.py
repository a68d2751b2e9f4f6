"""Who and what facts speak of, over HTTP."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.api.conftest import Caller, refused
from tests.tables import counts

pytestmark = pytest.mark.django_db


def speak_of(caller: Caller, subject: str) -> str:
    """Assert a fact about somebody, and return the id of their entity."""
    body = {
        "subject": subject,
        "predicate": "likes",
        "value": f"{subject}'s tea, of a long and winding kind " * 30,  # no name
        "evidence": [caller.remember(f"{subject} likes tea.")],
    }
    assert caller.post("facts", body).status_code == 201
    (found,) = [one for one in listed(caller) if one["label"] == subject]
    return str(found["id"])


def listed(caller: Caller) -> list[dict[str, Any]]:
    answer = caller.get("entities")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_a_merge_makes_one_of_two_and_is_undone(alice: Caller) -> None:
    """B396."""
    ada, lovelace = speak_of(alice, "Ada"), speak_of(alice, "Ada Lovelace")
    assert [one["facts"] for one in listed(alice)] == [1, 1]
    done = alice.post(f"entities/{lovelace}/merge", {"into": ada, "reason": "same"})
    assert done.status_code == 200, done.content
    assert (done.json()["entity"], done.json()["into"]) == (lovelace, ada)
    (one,) = listed(alice)
    assert (one["id"], one["facts"], one["merged"][0]["id"]) == (ada, 2, lovelace)
    assert alice.get(f"entities/{ada}").json() == one
    again = alice.post(f"entities/{lovelace}/merge", {"into": ada})
    refused(again, 409, "conflict")
    undone = alice.post(f"entities/{lovelace}/unmerge")
    assert undone.json() == {"entity": lovelace, "was_into": ada}
    assert len(listed(alice)) == 2
    refused(alice.post(f"entities/{ada}/merge", {"into": ada}), 400, "validation")


def test_strangers_see_and_merge_nothing(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    """B25, B497: nor does a thread below, which reads them."""
    ada, lovelace = speak_of(alice, "Ada"), speak_of(alice, "Ada Lovelace")
    before = counts()
    for caller in (bob, carol, alice.sends(thread="t1")):
        for known in (ada, uuid.uuid4(), "x"):
            merge = caller.post(f"entities/{known}/merge", {"into": lovelace})
            refused(merge, 404, "not_visible")
            refused(caller.post(f"entities/{known}/unmerge"), 404, "not_visible")
    for caller in (bob, carol):
        assert listed(caller) == []
        refused(caller.get(f"entities/{ada}"), 404, "not_visible")
    assert len(listed(alice.sends(thread="t1"))) == 2
    assert counts() == before
