"""B220 to B222: access is looked at again after ranking, and around a reranker."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from django.db import connection
from django.utils import timezone

from prism_memory import backends, signals
from prism_memory.errors import Aborted
from prism_memory.recall.denials import UNCHECKED
from prism_memory.types import AccessGrant, Denial, DenialReason, Grade, Recalled
from tests.documents import (
    ADA,
    ADA_ALONE,
    ADA_LATER,
    GRANTS,
    derived,
    document,
    memory_of,
    source_id,
)
from tests.factories import make_memory, make_scope, remember
from tests.recall.providers import CONFIGURED, Judge, Opinion

pytestmark = pytest.mark.django_db

SECRET: Final = "Bob earns 5000."
TEA: Final = "Bob drinks tea."
HOOK: Final = f"{__name__}.note"

told: list[Denial] = []


def note(denial: Denial) -> None:
    told.append(denial)


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> Iterator[None]:
    told.clear()
    wish = {"WAKE": False, **CONFIGURED, "ON_DENIAL": HOOK}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish
    yield
    told.clear()


@pytest.fixture
def opinion() -> Opinion:
    made = backends.get_reranker("opinion")
    assert isinstance(made, Opinion)
    return made


def stored() -> None:
    document("salaries", SECRET, "Bob earns much.", grants=GRANTS)
    document("menu", TEA)


def revoke() -> None:
    make_memory().sources.set_access({"salaries": []})


@contextmanager
def after(part: str, do: Callable[[], object], times: int = 1) -> Iterator[list[str]]:
    """Do something once the first statement that holds ``part`` has been run."""
    seen: list[str] = []

    def run(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        answer = execute(sql, params, many, context)
        if part in str(sql) and len(seen) < times:
            seen.append(str(sql))
            do()
        return answer

    with connection.execute_wrapper(run):
        yield seen
    assert len(seen) == times


CANDIDATES: Final = "AS MATERIALIZED"
CHECK: Final = 'FROM "prism_memory_record"'


def texts(found: Recalled) -> set[str]:
    return {hit.text for hit in found.hits}


def reasons() -> dict[uuid.UUID, DenialReason]:
    assert len({one.source_id for one in told}) == len(told), "each once"
    return {one.source_id: one.reason for one in told}


def test_a_grant_that_was_lost_since_the_question_was_asked_withholds() -> None:
    """B220: and what is open fills the page."""
    stored()
    memory = memory_of(ADA)
    with after(CANDIDATES, revoke):
        found = memory.recall("What does Bob earn?", 1)
    assert texts(found) == {TEA}
    assert reasons() == {source_id("salaries"): DenialReason.NO_GRANT}


def test_what_was_derived_is_withheld_with_its_document() -> None:
    (chunk,) = document("salaries", SECRET, grants=GRANTS)
    derived("Bob earns well.", derived("Bob is rich.", chunk))
    with after(CANDIDATES, revoke):
        found = memory_of(ADA).recall("Bob earns well", explain=True, message_range=2)
    assert not found.hits
    assert not found.explanations
    assert reasons() == {source_id("salaries"): DenialReason.NO_GRANT}


@pytest.mark.parametrize("who", [ADA, None, ADA_ALONE], ids=["allow", "none", "deny"])
def test_a_document_that_is_first_restricted_meanwhile_goes_to_no_reranker(
    who: Any, opinion: Opinion
) -> None:
    """B221: whoever asks, by an authorization or not."""
    document("salaries", SECRET, grants=GRANTS if who is ADA_ALONE else None)
    remember(TEA, "Bob sings.", wait=True)
    with after(CANDIDATES, revoke):
        found = memory_of(who).recall("Bob earns", reranker="opinion")
    assert SECRET not in texts(found)
    assert not any(SECRET in asked for _, asked in opinion.asked)
    (denial,) = told
    assert denial.principal == ("" if who is None else "ada")
    assert denial.scope == make_scope()


def test_a_grant_that_was_lost_while_a_reranker_worked_withholds(
    opinion: Opinion,
) -> None:
    """B220: again after it; told of once."""
    stored()
    with after(CHECK, revoke):
        found = memory_of(ADA).recall("Bob earns", reranker="opinion")
    ((_, asked),) = opinion.asked
    assert SECRET in asked
    assert texts(found) == {TEA}
    assert len(told) == 1


def test_a_version_that_changed_is_told_of_as_such() -> None:
    """B222."""
    second = [AccessGrant(group="hr", access_version=2)]
    document("salaries", SECRET, grants=second)

    def older() -> None:
        make_memory().sources.set_access({"salaries": [AccessGrant(group="hr")]})

    with after(CANDIDATES, older):
        assert not memory_of(ADA_LATER).recall("Bob earns").hits
    assert reasons() == {source_id("salaries"): DenialReason.VERSION_MISMATCH}


@contextmanager
def broken_check() -> Iterator[None]:
    def run(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if str(sql).startswith("SELECT") and CHECK in str(sql):
            return execute("SELECT 1 / 0", None, many, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(run):
        yield


@pytest.mark.parametrize("reranker", ["", "opinion"])
def test_a_check_that_fails_withholds_all(reranker: str, opinion: Opinion) -> None:
    """B220, B222: and leaves a host's transaction as it was."""
    stored()
    with broken_check():
        found = memory_of(ADA).recall("Bob earns", reranker=reranker)
    assert not found.hits
    assert found.degraded == UNCHECKED
    assert not opinion.asked
    assert reasons() == {
        source_id("salaries"): DenialReason.CHECK_FAILED,
        source_id("menu"): DenialReason.CHECK_FAILED,
    }
    assert memory_of(ADA).recall("Bob earns").hits


def test_denials_are_told_where_the_question_fails() -> None:
    """B222."""
    stored()
    lost: list[int] = []
    asked: Any = {"cancelled": lambda: bool(lost), "message_range": 1}
    looked = after("AS granted_once", lambda: lost.append(1))
    with after(CANDIDATES, revoke), looked, pytest.raises(Aborted):
        memory_of(ADA).recall("Bob", **asked)
    assert reasons() == {source_id("salaries"): DenialReason.NO_GRANT}


def test_a_hook_that_fails_fails_the_question(settings: Any) -> None:
    """Nothing is shown that an audit was to know of and does not."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "ON_DENIAL": f"{__name__}.fail"}
    stored()
    with after(CANDIDATES, revoke), pytest.raises(RuntimeError):
        memory_of(ADA).recall("Bob earns")


def fail(denial: Denial) -> None:
    raise RuntimeError


def test_denied_ids_are_in_no_answer_and_no_other_signal(settings: Any) -> None:
    """B222: not in traces, nor in what listeners of a recall hear."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "TRACES": "on"}
    ids = document("salaries", SECRET, grants=GRANTS)
    heard: list[Any] = []

    def hear(sender: Any, trace: Any, **kwargs: Any) -> None:
        heard.append(trace)

    def denied(sender: Any, using: str, denial: Denial, **kwargs: Any) -> None:
        heard_denials.append(denial)

    heard_denials: list[Denial] = []
    signals.recalled.connect(hear)
    signals.access_denied.connect(denied)
    try:
        with after(CANDIDATES, revoke):
            found = memory_of(ADA).recall("Bob earns", explain=True)
    finally:
        signals.recalled.disconnect(hear)
        signals.access_denied.disconnect(denied)
    assert heard_denials == told
    words = repr((found, heard))
    for hidden in (*ids, source_id("salaries")):
        assert str(hidden) not in words
    assert "'ada'" not in repr(heard[0].options)


def test_nothing_is_denied_where_nothing_was_lost() -> None:
    stored()
    make_memory().recall("Bob earns")
    memory_of(ADA_LATER).recall("Bob earns")
    memory_of(ADA).recall("Bob earns", reranker="opinion")
    assert not told


def test_what_was_forgotten_meanwhile_is_withheld_and_no_denial() -> None:
    """B230."""
    ids = document("salaries", SECRET, grants=GRANTS)
    with after(CANDIDATES, lambda: make_memory().forget(ids)):
        assert not memory_of(ADA).recall("Bob earns").hits
    assert not told


def test_an_authorization_costs_one_query(django_assert_num_queries: Any) -> None:
    """B220: one for all documents; two statements more in a host's transaction."""
    stored()
    memory = memory_of(ADA)
    memory.recall("Bob earns")
    with django_assert_num_queries(2 + 2):  # SAVEPOINT, RELEASE
        memory.recall("Bob earns")


def test_a_grader_is_shown_nothing_that_was_lost_since_the_last_pass() -> None:
    """B220: between two verdicts."""
    judge = backends.get_grader("judge")
    assert isinstance(judge, Judge)
    judge.verdicts = [
        Grade(sufficient=False, reformulation="Who drinks?"),
        Grade(sufficient=True),
    ]
    stored()
    first: list[int] = []

    def grade(question: str, passages: Any, *, timeout_seconds: float) -> Grade:
        judge.asked.append((question, [*passages]))
        if not first:
            first.append(1)
            revoke()
        verdict: Grade = judge.verdicts[len(judge.asked) - 1]
        return verdict

    judge.grade = grade  # type: ignore[method-assign]
    found = memory_of(ADA).deep_recall("Bob earns", force_hard=True, grader="judge")
    assert SECRET in judge.asked[0][1]
    assert SECRET not in judge.asked[1][1]
    assert {hit.text for hit in found.hits} == {TEA}
    assert reasons() == {source_id("salaries"): DenialReason.NO_GRANT}


@pytest.mark.django_db(transaction=True)
def test_a_revoke_of_another_session_keeps_the_text_from_a_reranker(
    opinion: Opinion,
) -> None:
    """B221: committed between the question and the reranker."""
    stored()
    remember("Bob sings.", wait=True)

    def elsewhere() -> None:
        def run() -> None:
            try:
                revoke()
            finally:
                connection.close()

        session = threading.Thread(target=run)
        session.start()
        session.join()

    with after(CANDIDATES, elsewhere):
        found = memory_of(ADA).recall("Bob earns", reranker="opinion")
    ((_, asked),) = opinion.asked
    assert {*asked} == texts(found) == {TEA, "Bob sings."}
    (denial,) = told
    assert denial.reason is DenialReason.NO_GRANT
    assert denial.at <= timezone.now()
