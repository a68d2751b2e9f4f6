"""Sweeps beside writers, beside other sweeps, and cut off in the middle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from prism_memory.errors import Conflict
from prism_memory.governance import retention
from prism_memory.governance.retention import due
from prism_memory.models import AuditEvent, LineageEdge, Record, Run, Tombstone
from prism_memory.types import Entry, Lineage
from tests.factories import make_memory, make_scope, remember
from tests.governance.retention.written import ACTOR, ids, make_policy, old, run
from tests.lifecycle.test_concurrency import wait_for_a_waiter
from tests.lifecycle.test_correct_concurrency import AtStatement, Killed, stored
from tests.tables import physical, table_names
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 8


def write(number: int) -> None:
    """As an agent at work: say things, derive, say them again."""
    memory = make_memory(make_scope(thread=f"chat-{number % 4}"))
    for turn in range(6):
        first = f"{number}-{turn}"
        memory.remember([Entry(f"said {first}", key=first), f"more {first}"])
        derived = Entry("derived", key=f"d-{first}", lineage=Lineage((first,)))
        memory.remember([derived, Entry(f"said again {first}", key=first)])


def test_case_c20_a_sweep_against_8_writers() -> None:
    """No deadlock; all that was due is gone; nothing that was not due is."""
    due_before = {
        old(9, scope=make_scope(thread=f"chat-{n % 4}"), key=f"{n % WRITERS}-{n % 6}")
        for n in range(24)
    }
    policy = make_policy(max_age_days=1)
    sweeps = [partial(run, policy, 3), partial(run, policy, 2)]
    together([*[partial(write, n) for n in range(WRITERS)], *sweeps])
    done = run(policy)
    assert done.ended == "done"
    left = set(Record.objects.filter(tenant="acme").values_list("id", flat=True))
    assert not due_before & left
    # What was said anew under an old key is as old as that, and went with it.
    assert WRITERS * 6 * 3 - len(due_before) <= len(left) <= WRITERS * 6 * 3
    refs = {f"record:{record_id}" for record_id in left}
    stones = set(Tombstone.objects.values_list("target_ref", flat=True))
    edges = LineageEdge.objects.all()
    assert {edge.record_id for edge in edges} <= left
    gone = {e.source_ref for e in edges if e.source_ref.startswith("record:")} - refs
    assert gone <= stones


def test_case_c20_number_is_kept_while_8_write() -> None:
    """What was written during a pass is got by the next."""
    policy = make_policy(max_entries=5)
    calls: list[Callable[[], Any]] = [partial(write, n) for n in range(WRITERS)]
    together([*calls, partial(run, policy, 2), partial(run, policy, 2)])
    while (last := run(policy)).counts["deleted"]:
        assert last.ended == "done"
    for thread in range(4):
        left = Record.objects.filter(scope_id=make_scope(thread=f"chat-{thread}").id)
        assert left.count() == 5


def test_two_schedulers_at_once_do_the_work_once() -> None:
    """One goes on; the other stops, and says nothing bad."""
    for _ in range(20):
        old(9)
    policies = [make_policy(name, max_age_days=1) for name in ("a", "b")]
    call = partial(
        retention.sweep_all, using="default", tenants=["acme"], actor=ACTOR, batch=1
    )
    passes = together([call] * 4)
    assert any(one.swept and one.swept[-1].ended == "done" for one in passes)
    assert not ids()
    deleted = sum(
        event.detail["deleted"]
        for event in AuditEvent.objects.filter(action="retention.sweep")
    )
    assert deleted == 20
    assert set(Run.objects.values_list("state", flat=True)) == {"done"}
    assert {row.target for row in Run.objects.all()} == {str(p.id) for p in policies}


def test_who_is_taken_over_stops_at_its_next_step() -> None:
    for _ in range(3):
        old(9)
    policy = make_policy(max_age_days=1)
    stolen: list[Any] = []

    def steal(execute: Any, sql: str, *rest: Any) -> Any:
        if "pg_advisory_xact_lock" in sql and not stolen:
            stolen.append(together([partial(run, policy)]))
        return execute(sql, *rest)

    with connection.execute_wrapper(steal):
        mine = run(policy, 1)
    assert mine.ended == "elsewhere"
    ((other,),) = stolen
    assert (other.ended, other.counts["deleted"], ids()) == ("done", 3, set())


def test_rows_that_others_keep_locked_fail_the_run_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(due, "LOCK_TIMEOUT", "10ms")
    monkeypatch.setattr(due, "TRIES", 2)
    record_id = old(9)
    policy = make_policy(max_age_days=1)
    locked, swept = threading.Event(), threading.Event()

    def lock() -> None:
        with transaction.atomic():
            list(Record.objects.select_for_update().filter(id=record_id))
            locked.set()
            assert swept.wait(60)

    def sweep() -> None:
        assert locked.wait(60)
        try:
            with pytest.raises(Conflict):
                run(policy)
            with pytest.raises(Conflict):
                make_memory().apply_retention(max_age_days=1)
        finally:
            swept.set()

    together([lock, sweep])
    row = Run.objects.get()
    assert (row.state, ids()) == ("failed", {record_id})
    assert not Tombstone.objects.exists()
    assert (run(policy).run_id, ids()) == (row.id, set())


def test_a_deadlock_is_tried_again() -> None:
    """Nothing of the first try is left, nor counted twice."""
    old(9)
    policy = make_policy(max_age_days=1)
    failed: list[str] = []

    def fail_once(execute: Any, sql: str, *rest: Any) -> Any:
        answer = execute(sql, *rest)
        if 'UPDATE "prism_memory_run"' in sql and not failed:
            failed.append(sql)
            with connection.cursor() as cursor:
                cursor.execute(
                    "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40P01'; END $$"
                )
        return answer

    with connection.execute_wrapper(fail_once):
        done = run(policy)
    assert failed
    assert done.counts == {"deleted": 1, "kept": 0, "scopes": 1}
    assert AuditEvent.objects.filter(action="retention.sweep").count() == 1


def test_a_record_that_was_given_another_sequence_meanwhile_stays() -> None:
    """It is judged again once it is locked."""
    low = old(1, key="low", sequence=1)
    high = old(1, sequence=5)
    begun = threading.Event()

    def move() -> None:
        with transaction.atomic():
            remember("moved", key="low", sequence=9)
            begun.set()
            wait_for_a_waiter()

    def sweep() -> None:
        assert begun.wait(60)
        make_memory().apply_retention(max_entries=1)

    together([move, sweep])
    assert ids() == {low, high}
    assert make_memory().apply_retention(max_entries=1).deleted == 1
    assert ids() == {low}


def rows() -> dict[str, set[tuple[str, str]]]:
    """The rows of Acme, but for the run itself."""
    found = stored()
    del found["prism_memory_run"]
    return found


@pytest.mark.parametrize("verb", ["apply", "sweep"])
def test_cut_off_before_any_statement_nothing_is_half_done(verb: str) -> None:
    """B190: a page is done as a whole or not; and whoever comes next goes on."""
    old(9, key="root")
    old(9, "second")
    make_memory().remember(Entry("child", key="c", lineage=Lineage(("root",))))
    policy = make_policy(max_age_days=1)
    calls: dict[str, Callable[[], Any]] = {
        "apply": partial(make_memory().apply_retention, max_age_days=1, batch_size=1),
        "sweep": partial(run, policy, 1, end=0),
    }
    before = rows()
    for number in range(200):
        try:
            with connection.execute_wrapper(AtStatement(number)):
                calls[verb]()
        except Killed:
            state = rows()
            if state != before:
                # Only the mark that the run has ended may be missing.
                assert verb == "sweep"
                break
        else:
            break
    assert number >= 8
    assert run(policy).ended == "done"
    assert not Record.objects.exclude(key="c").exists()
    reasons = Tombstone.objects.values_list("reason", flat=True)
    assert (set(reasons), len(reasons)) == ({"expired"}, 3)
    totals = Run.objects.get().counts
    assert totals["deleted"] == (2 if verb == "sweep" else 1)


def test_strangers_rows_are_as_they_were() -> None:
    """B22: byte for byte, whatever a sweep does beside them."""
    for _ in range(3):
        old(9)
        old(9, scope=make_scope(tenant="globex"))
    make_policy(max_age_days=1)
    before = {name: _of_globex(name) for name in table_names()}
    retention.sweep_all(using="default", tenants=["acme"], actor=ACTOR, batch=2)
    assert {name: _of_globex(name) for name in table_names()} == before
    assert before["prism_memory_record"]


def _of_globex(name: str) -> set[tuple[str, str]]:
    of_no_tenant = {"prism_memory_embeddingspace", "prism_memory_tenant"}
    return set() if name in of_no_tenant else physical(name, "globex")
