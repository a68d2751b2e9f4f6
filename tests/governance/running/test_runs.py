"""``memory.runs``: seen, cancelled, retried; of the tenant alone (B22, C33)."""

from __future__ import annotations

import datetime as dt
import inspect
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import runs, signals
from prism_memory.errors import Conflict, Invalid, NotVisible, ScopeDenied
from prism_memory.governance import erasure
from prism_memory.memory.runs import Runs
from prism_memory.models import AuditEvent, Embedding, Run
from prism_memory.models.choices import RunState
from prism_memory.tasks import running
from prism_memory.types import Actor, Scope
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory, remember

pytestmark = pytest.mark.django_db

ACME = Scope("acme")
METHODS = sorted(
    name
    for name, _ in inspect.getmembers(Runs, inspect.isfunction)
    if not name.startswith("_")
)

HELD: Any = {"using": "default", "tenant": "acme", "kind": "erase"}


def begin(
    target: str = "t", *, kind: str = "erase", tenant: str = "acme", anew: bool = False
) -> Run:
    return runs.begin(
        using="default",
        tenant=tenant,
        kind=kind,
        target=target,
        actor=Actor(),
        at=timezone.now(),
        anew=anew,
    )


def fail(run: Run) -> Run:
    runs.finish(
        run, using="default", state=RunState.FAILED, at=timezone.now(), error="conflict"
    )
    return run


def give_up(*texts: str) -> None:
    remember(*texts)
    Embedding.objects.update(failed_at=timezone.now(), attempts=8, error="Too long.")


def test_a_run_says_how_far_it_is_and_how_fast_it_goes() -> None:
    run, at = begin(kind="retention"), timezone.now()
    own: dict[str, Any] = {"using": "default"}
    runs.expect(run, **own, total=200, at=at)
    later = at + dt.timedelta(seconds=10)
    Run.objects.update(taken_up_at=at)
    runs.advance(run, **own, cursor={}, counts={"scopes": 50}, at=later)
    seen = make_memory(ACME).runs.get(run.id)
    assert (seen.percent, seen.per_second, seen.state) == (25.0, 5.0, "running")
    assert seen.counts == {"scopes": 50}
    again = begin(kind="retention")  # the pace is of who took it up last
    Run.objects.update(taken_up_at=later)
    much_later = later + dt.timedelta(seconds=10)
    runs.advance(again, **own, cursor={}, counts={"scopes": 150}, at=much_later)
    seen = make_memory(ACME).runs.get(run.id)
    assert (seen.percent, seen.per_second) == (75.0, 10.0)
    runs.finish(again, **own, state=RunState.DONE, at=much_later)
    assert make_memory(ACME).runs.get(run.id).percent == 100.0


def test_who_works_on_a_cancelled_run_stops_at_the_next_step() -> None:
    run = begin()
    done = make_memory(ACME).runs.cancel(run.id, reason="a mistake")
    assert (done.state, done.finished_at is not None) == ("cancelled", True)
    with pytest.raises(runs.TakenOver):
        runs.advance(run, using="default", cursor={}, counts={}, at=timezone.now())
    with pytest.raises(NotVisible):  # nor does a message that comes late
        runs.take_up(**HELD, run_id=run.id, at=timezone.now())
    with pytest.raises(Conflict, match="cancelled already"):
        make_memory(ACME).runs.cancel(run.id)
    event = AuditEvent.objects.get(action="run.cancel")
    assert (event.target, event.reason) == (f"run:{run.id}", "a mistake")
    assert event.detail == {"kind": "erase", "target": "t"}


def test_what_failed_is_tried_later_each_time_and_at_last_left_to_a_person(
    settings: Any,
) -> None:
    """B436: back-off with chance in it, and an end."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "RUN_ATTEMPTS": 3}
    run, waits = begin(), []
    for _ in range(3):
        fail(run)
        run.refresh_from_db()
        if run.next_try_at is not None:
            assert run.finished_at is not None
            waits.append((run.next_try_at - run.finished_at).total_seconds())
            (found,) = runs.left_alone(
                using="default", tenant="acme", at=run.next_try_at
            )
            given: dict[str, Any] = {"run_id": run.id, "at": run.next_try_at}
            ticket = found.cursor["holder"]
            run = runs.take_up(**HELD, **given, ticket=ticket, unless_held=True)
    assert [5 <= waits[0] <= 10, 10 <= waits[1] <= 20, len(waits)] == [True, True, 2]
    far = timezone.now() + dt.timedelta(days=1)
    assert runs.left_alone(using="default", tenant="acme", at=far) == []
    seen = make_memory(ACME).runs.retry(run.id)
    assert (seen.state, seen.attempts, seen.error) == ("running", 0, "")
    (waiting,) = runs.left_alone(using="default", tenant="acme", at=far)
    assert waiting.id == run.id


def test_a_retry_tells_a_worker_of_exactly_this_run(
    django_capture_on_commit_callbacks: Any,
) -> None:
    run, told = fail(begin()), []

    def note(**given: Any) -> None:
        told.append(given)

    signals.run_wanted.connect(note)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            make_memory(ACME).runs.retry(run.id)
    finally:
        signals.run_wanted.disconnect(note)
    (given,) = told
    assert (given["tenant"], given["kind"], given["run_id"]) == (
        "acme",
        "erase",
        run.id,
    )
    run.refresh_from_db()
    assert given["ticket"] == run.cursor["holder"]


def test_a_live_worker_is_left_alone_and_an_old_message_is_worth_nothing() -> None:
    """One at work for a tenant, a kind and a target; a dead one is taken over."""
    run = begin()
    worker: dict[str, Any] = {**HELD, "run_id": run.id, "unless_held": True}
    with pytest.raises(runs.TakenOver):
        runs.take_up(**worker, at=timezone.now())
    ticket = runs.rest(run, using="default", at=timezone.now())
    second = runs.take_up(**worker, at=timezone.now(), ticket=ticket)
    with pytest.raises(NotVisible):  # the same message, once more
        runs.take_up(**worker, at=timezone.now(), ticket=ticket)
    much_later = timezone.now() + dt.timedelta(minutes=6)
    (silent,) = runs.left_alone(using="default", tenant="acme", at=much_later)
    held = silent.cursor["holder"]
    third = runs.take_up(**worker, at=much_later, ticket=held)
    assert third.attempts == 1
    with pytest.raises(runs.TakenOver):
        runs.advance(second, using="default", cursor={}, counts={}, at=much_later)


def test_what_kills_its_worker_each_time_is_given_up(settings: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "RUN_ATTEMPTS": 2}
    run, at = begin(), timezone.now()
    given: dict[str, Any] = {**HELD, "run_id": run.id}
    at += dt.timedelta(minutes=6)
    runs.take_up(**given, at=at, unless_held=True)
    at += dt.timedelta(minutes=6)
    with pytest.raises(NotVisible):
        runs.take_up(**given, at=at, unless_held=True)
    run.refresh_from_db()
    assert (run.state, run.next_try_at) == ("failed", None)
    assert run.error == "No worker came back from it."


@pytest.mark.parametrize(
    ("kind", "state", "words"),
    [
        ("erase", RunState.RUNNING, "under way"),
        ("erase", RunState.DONE, "is done"),
        ("import", RunState.FAILED, "its command"),
    ],
)
def test_what_cannot_be_retried_says_why(
    kind: str, state: RunState, words: str
) -> None:
    run = begin(kind=kind)
    if state != RunState.RUNNING:
        runs.finish(run, using="default", state=state, at=timezone.now())
    with pytest.raises(Conflict, match=words):
        make_memory(ACME).runs.retry(run.id)


def test_nothing_is_retried_beside_the_same_work() -> None:
    old = fail(begin())
    runs.begin(
        using="default",
        tenant="acme",
        kind="erase",
        target="t",
        actor=Actor(),
        at=timezone.now(),
        anew=True,
    )
    with pytest.raises(Conflict, match="begun anew"):
        make_memory(ACME).runs.retry(old.id)


def test_runs_are_the_tenants_own() -> None:
    """C04: a stranger sees none, and an id of another's is no id."""
    theirs = fail(begin(tenant="globex"))
    mine = make_memory(ACME).runs
    assert mine().items == ()
    calls: list[Callable[[Any], Any]] = [mine.get, mine.cancel, mine.retry]
    for call in calls:
        for run_id in (theirs.id, uuid.uuid4()):
            with pytest.raises(NotVisible):
                call(run_id)
    below = make_memory(Scope("globex", owner="ada")).runs
    for call in (below, below.failed_texts, below.retry_failed_texts):  # type: ignore[assignment]
        with pytest.raises(ScopeDenied):
            call()  # type: ignore[call-arg]
    theirs.refresh_from_db()
    assert theirs.state == "failed"


def test_they_are_listed_newest_first_to_the_last() -> None:
    """C34."""
    ids = [begin(str(n), kind="export" if n % 2 else "decay").id for n in range(5)]
    mine, cursor, seen = make_memory(ACME).runs, None, []
    while True:
        page = mine(limit=2, cursor=cursor)
        seen += [run.id for run in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == sorted(ids, reverse=True)
    assert len(mine(kind="export", state="running").items) == 2
    with pytest.raises(Invalid):
        mine(state="odd")


def test_texts_that_were_given_up_are_seen_and_tried_again() -> None:
    """case_C33."""
    give_up("One.", "Two.", "Three.")
    mine = make_memory(ACME).runs
    first = mine.failed_texts(limit=2)
    rest = mine.failed_texts(limit=2, cursor=first.next_cursor)
    ids = [one.record_id for one in (*first.items, *rest.items)]
    assert len({*ids}) == 3
    assert rest.next_cursor is None
    assert {one.error for one in first.items} == {"Too long."}
    assert make_memory(Scope("globex")).runs.failed_texts().items == ()
    assert make_memory(Scope("globex")).runs.retry_failed_texts() == 0
    assert mine.retry_failed_texts(reason="a wider model") == 3
    assert mine.failed_texts().items == ()
    event = AuditEvent.objects.get(tenant="acme", action="index.retry")
    assert (event.reason, event.detail) == ("a wider model", {"texts": 3})


CALLS: dict[str, Callable[[Runs], Any]] = {
    "call": lambda mine: mine(),
    "get": lambda mine: mine.get(begin("g").id),
    "cancel": lambda mine: mine.cancel(begin("c").id),
    "retry": lambda mine: mine.retry(fail(begin("r")).id),
    "failed_texts": lambda mine: mine.failed_texts(),
    "retry_failed_texts": lambda mine: mine.retry_failed_texts(),
}


def test_every_verb_names_the_tenant_and_has_its_twin() -> None:
    """B22."""
    plain = {n for n in METHODS if not inspect.iscoroutinefunction(getattr(Runs, n))}
    assert {*METHODS} - plain == {f"a{name}" for name in plain} | {"alist"}
    assert CALLS.keys() - {"call"} == plain
    give_up("One.")
    for name, call in CALLS.items():
        with tenant_in_every_statement("acme") as seen:
            call(make_memory(ACME).runs)
        assert seen.on_tenants(), name


@pytest.mark.parametrize("kind", sorted(running.TASKS))
def test_a_message_of_one_kind_leaves_a_run_of_another_alone(kind: str) -> None:
    """Nor does one do anything whose id is none."""
    run = begin(kind="fill" if kind == "erase" else "erase")
    before = Run.objects.values().get()
    for run_id in (str(run.id), "nonsense", ""):
        given: dict[str, Any] = {"using": "default", "tenant": "acme"}
        running.TASKS[kind].apply(kwargs={**given, "run_id": run_id}, throw=True)
    assert Run.objects.values().get() == before


def test_what_is_begun_anew_ends_what_was_begun_before() -> None:
    """Not one that is worked on; no worker tries again what failed."""
    first = begin()
    with pytest.raises(Conflict, match="began the same erase"):
        begin(anew=True)
    Run.objects.update(heartbeat_at=timezone.now() - dt.timedelta(minutes=6))
    second = begin(anew=True)
    assert (second.id != first.id, second.cursor.keys()) == (True, {"holder"})
    with pytest.raises(runs.TakenOver):
        runs.advance(first, using="default", cursor={}, counts={}, at=timezone.now())
    fail(second)
    third = begin(anew=True)
    later = timezone.now() + dt.timedelta(minutes=4)
    assert not runs.left_alone(using="default", tenant="acme", at=later)
    assert begin().id == third.id


def test_an_erasure_says_how_much_of_it_is_done() -> None:
    remember(*(f"Text {n}." for n in range(3)), scope=Scope("acme", "ada"))
    state = make_memory(Scope("acme", "ada")).start_erasure()
    given: dict[str, Any] = {"using": "default", "tenant": "acme", "run_id": state.id}
    erasure.resume_erasure(**given)
    run = Run.objects.get(id=state.id)
    assert runs.done_and_total(run) == (3, 3)
