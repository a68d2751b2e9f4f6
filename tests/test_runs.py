"""Runs: taken up, taken over, ended."""

from __future__ import annotations

import threading

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from prism_memory import runs
from prism_memory.errors import Conflict
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.types import Actor


def begin(tenant="acme", target="file"):
    return runs.begin(
        using="default",
        tenant=tenant,
        kind="import",
        target=target,
        actor=Actor("command:test"),
        at=timezone.now(),
    )


def advance(run, entries):
    runs.advance(
        run,
        using="default",
        cursor={"entries": entries},
        counts={"entries": entries},
        at=timezone.now(),
    )


def finish(run, state, error=""):
    runs.finish(run, using="default", state=state, error=error, at=timezone.now())


@pytest.mark.django_db
class TestRun:
    @pytest.mark.parametrize(
        "state", [RunState.RUNNING, RunState.FAILED, RunState.CANCELLED]
    )
    def test_work_that_did_not_end_well_is_taken_up(self, state):
        first = begin()
        advance(first, 7)
        if state != RunState.RUNNING:
            finish(first, state, "limit at line 8")
        second = begin()
        assert second.id == first.id
        assert (second.cursor["entries"], second.counts) == (7, {"entries": 7})
        stored = Run.objects.get()
        assert (stored.state, stored.error, stored.finished_at) == ("running", "", None)

    def test_work_that_is_done_begins_anew(self):
        first = begin()
        finish(first, RunState.DONE)
        second = begin()
        assert second.id != first.id
        assert "entries" not in second.cursor

    def test_other_work_is_left_alone(self):
        first = begin()
        assert len({first.id, begin(tenant="beta").id, begin(target="b").id}) == 3

    def test_who_was_overtaken_neither_goes_on_nor_ends_it(self):
        first = begin()
        second = begin()
        with pytest.raises(runs.TakenOver):
            advance(first, 1)
        finish(first, RunState.FAILED, "never said")
        advance(second, 2)
        finish(second, RunState.DONE)
        stored = Run.objects.get()
        assert (stored.state, stored.error, stored.counts) == (
            "done",
            "",
            {"entries": 2},
        )

    def test_a_run_that_ended_goes_no_further(self):
        run = begin()
        finish(run, RunState.DONE)
        with pytest.raises(runs.TakenOver):
            advance(run, 1)

    def test_what_is_no_conflict_is_not_called_one(self):
        with pytest.raises(IntegrityError, match="target_bytes"):
            begin(target="t" * 257)


@pytest.mark.django_db(transaction=True)
def test_of_many_that_begin_at_once_one_holds_the_work():
    """C16, of runs."""
    barrier, held, refused = threading.Barrier(8), [], []

    def enter():
        barrier.wait()
        try:
            held.append(begin())
        except Conflict as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(held) + len(refused) == 8
    assert {run.id for run in held} == {Run.objects.get().id}
    holding = []
    for run in held:
        try:
            advance(run, 1)
        except runs.TakenOver:
            continue
        holding.append(run)
    assert len(holding) == 1
