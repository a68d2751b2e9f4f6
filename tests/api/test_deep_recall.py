"""Deep recall over HTTP: it goes on where a grader says so, and crosses no scope."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from prism_memory import backends
from prism_memory.errors import ProviderUnavailable
from prism_memory.models import RecallTrace
from prism_memory.types import Grade, Permission, Scope
from tests.api.conftest import ALICE, BOB, CAROL, Caller, make_token, refused
from tests.recall.providers import CONFIGURED, Judge

pytestmark = pytest.mark.django_db

SECRET = "The safe's number is 4711."
HARD = {"query": "What opens it?", "force_hard": True}


@pytest.fixture
def judge() -> Iterator[Judge]:
    """A grader, which the settings name."""
    with override_settings(PRISM_MEMORY={**CONFIGURED, "GRADER": "judge"}):
        found = backends.get_grader("judge")
        assert isinstance(found, Judge)
        yield found


def texts(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [hit["text"] for hit in answer.json()["hits"]]


def weak(words: str | None = None) -> Grade:
    return Grade(sufficient=False, reformulation=words)


def test_without_a_grader_it_is_one_pass(alice: Caller) -> None:
    """B399."""
    alice.remember(SECRET)

    answer = alice.post("recall/deep", {"query": "safe", "force_hard": True})

    assert texts(answer) == [SECRET]
    told = answer.json()
    assert (told["iterations"], told["gate_hard"], told["graded"]) == (1, True, False)
    assert (told["sufficient"], told["abstained"]) == (True, False)
    assert told["queries"] == ["safe"]


def test_a_grader_that_is_not_content_is_answered_with_other_words(
    alice: Caller, judge: Judge
) -> None:
    """B400 to B408."""
    alice.remember(SECRET)
    judge.verdicts = [weak("the safe's number"), Grade(sufficient=True)]

    answer = alice.post("recall/deep", {**HARD, "legs": "text"})

    assert texts(answer) == [SECRET]
    told = answer.json()
    assert (told["iterations"], told["graded"]) == (2, True)
    assert told["queries"] == ["What opens it?", "the safe's number"]
    assert [question for question, _ in judge.asked] == ["What opens it?"] * 2


def test_where_nothing_does_it_says_so(alice: Caller, judge: Judge) -> None:
    judge.verdicts = [weak()]

    told = alice.post("recall/deep", HARD).json()

    assert (told["sufficient"], told["abstained"]) == (False, True)


def test_the_caller_bounds_the_passes(alice: Caller, judge: Judge) -> None:
    """B403."""
    judge.verdicts = [weak("one"), weak("two"), weak("three"), weak("four")]

    told = alice.post("recall/deep", {**HARD, "max_iterations": 2}).json()

    assert told["iterations"] == 2


def test_an_easy_question_asks_no_grader_unless_it_is_taken_for_hard(
    alice: Caller, judge: Judge
) -> None:
    """B399."""
    alice.post("recall/deep", {"query": "safe"})
    assert judge.asked == []
    told = alice.post("recall/deep", {"query": "safe", "threshold": 0}).json()
    assert (told["gate_hard"], len(judge.asked)) == (True, 1)


def test_a_grader_that_fails_costs_the_verdict_and_not_the_answer(
    alice: Caller, judge: Judge
) -> None:
    """B407."""
    alice.remember(SECRET, wait=True)
    judge.verdicts = [ProviderUnavailable("http://user:secret@grader")]

    answer = alice.post("recall/deep", {**HARD, "query": "safe"})

    assert texts(answer) == [SECRET]
    assert answer.json()["degraded"] == "the grader gave no verdict"
    assert "secret@" not in answer.content.decode()


STRANGERS = [
    pytest.param(BOB, {}, id="owner"),
    pytest.param(CAROL, {}, id="tenant"),
    pytest.param(ALICE, {}, id="above"),
    pytest.param(ALICE, {"agent": "sales"}, id="agent"),
    pytest.param(ALICE, {"agent": "support", "thread": "t2"}, id="thread"),
]


@pytest.mark.parametrize("path", ["recall", "recall/deep"])
@pytest.mark.parametrize(("scope", "headers"), STRANGERS)
def test_no_pass_shows_a_stranger_anything(
    alice: Caller,
    judge: Judge,
    path: str,
    scope: Scope,
    headers: dict[str, str],
) -> None:
    """B497, case_C02: nor does a grader see it, whatever it tells to search for."""
    thread = alice.sends(agent="support", thread="t1")
    memory_id = thread.remember(SECRET, wait=True)
    judge.verdicts = [weak(SECRET), weak(f"{SECRET} again"), weak(memory_id)]
    stranger = Caller(make_token(scope)).sends(**headers)
    more = {} if path == "recall" else {"force_hard": True}

    def found(**given: Any) -> list[str]:
        return texts(stranger.post(path, {"query": SECRET, **more, **given}))

    assert found() == []
    assert found(ids=[memory_id]) == found(ids=[str(uuid.uuid4())]) == []
    assert found(include_superseded=True, include_quarantined=True) == []
    assert found(known_at="2030-01-01T00:00:00Z", legs=["recency"]) == []
    if path == "recall":
        assert found(explain=True, message_range=4) == []
    assert all(shown == [] for _, shown in judge.asked)
    assert texts(thread.post(path, {"query": SECRET, **more})) == [SECRET]


def test_what_needs_more_than_read_needs_it_here_too(alice: Caller) -> None:
    reader = Caller(make_token(ALICE, (Permission.READ,)))

    wishes = {
        "include_superseded": True,
        "include_quarantined": True,
        "require_consent": False,
        "reinforce": True,
    }
    for name, value in wishes.items():
        answer = reader.post("recall/deep", {"query": "tea", name: value})
        refused(answer, 403, "permission", name)


@pytest.mark.parametrize(
    ("given", "status", "field"),
    [
        ({"max_iterations": 0}, 422, "max_iterations"),
        ({"max_iterations": 6}, 422, "max_iterations"),
        ({"max_iterations": "2"}, 400, "max_iterations"),
        ({"threshold": -0.1}, 400, "threshold"),
        ({"threshold": 1.1}, 400, "threshold"),
        ({"threshold": "hard"}, 400, "threshold"),
        ({"force_hard": 1}, 400, "force_hard"),
        ({"query": " "}, 400, "query"),
        ({"query": "a" * 4_097}, 422, "query"),
        ({"top_k": 33}, 422, "top_k"),
        pytest.param({"ids": [str(uuid.UUID(int=7))] * 257}, 422, "ids", id="ids"),
    ],
    ids=str,
)
def test_what_is_out_of_bounds_is_refused_by_its_name(
    alice: Caller, given: dict[str, Any], status: int, field: str
) -> None:
    answer = alice.post("recall/deep", {"query": "tea", **given})

    refused(answer, status, "limit" if status == 422 else "validation", field)


@pytest.mark.parametrize("name", ["message_range", "explain"])
def test_what_only_one_pass_can_tell_is_no_option(alice: Caller, name: str) -> None:
    """Refused, not taken and left out of the answer."""
    refused(alice.post("recall/deep", {"query": "tea", name: 1}), 400, "validation")


def test_each_pass_costs_what_a_recall_does(
    alice: Caller, judge: Judge, django_assert_num_queries: Any
) -> None:
    alice.remember(SECRET, wait=True)
    alice.recalls("safe")
    judge.verdicts = [weak("number"), Grade(sufficient=True)]

    with django_assert_num_queries(2):  # key, recall
        alice.post("recall/deep", {"query": "safe"})
    # Key, two recalls, and what is still in sight before and after the last verdict.
    with django_assert_num_queries(5):
        alice.post("recall/deep", HARD)
    assert not RecallTrace.objects.exists()
