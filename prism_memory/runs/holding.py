"""Who works on a run, and how far it is."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from psycopg.errors import UniqueViolation

from prism_memory.conf import settings
from prism_memory.db.tenancy import acting_for, for_tenant
from prism_memory.errors import Conflict, NotVisible
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.runs.progress import done_and_total
from prism_memory.runs.waiting import is_silent, silent_since
from prism_memory.types import Actor


class TakenOver(Conflict):
    """Another process took this work up meanwhile."""


@for_tenant
def begin(
    *,
    using: str,
    tenant: str,
    kind: str,
    target: str,
    actor: Actor,
    at: dt.datetime,
    anew: bool = False,
) -> Run:
    """Take up the last run of this work if it did not end well, else begin a new one.

    Args:
        tenant: Whose work; empty for work of the whole installation.
        target: What is worked on; equal targets are the same work.
        anew: Begin a new one, whatever there was; one that did not end is cancelled.

    Raises:
        Conflict: Another process began the same work in this moment; or, with ``anew``,
            it gave a sign of life lately.
    """
    message = f"Another process began the same {kind} in this moment."
    with one_running(message), transaction.atomic(using=using):
        run = _unfinished(using, tenant, kind, target)
        if run is not None and anew:
            if run.state != RunState.RUNNING or is_silent(run, at):
                _cancel(run, using, at)
            run = None
        if run is None:
            return Run.objects.using(using).create(
                tenant=tenant,
                kind=kind,
                target=target,
                actor=actor.name,
                cursor={"holder": uuid.uuid4().hex},
                started_at=at,
                heartbeat_at=at,
                taken_up_at=at,
            )
        run.actor, run.attempts = actor.name, 0
        _hold(run, using, at)
    return run


def _cancel(run: Run, using: str, at: dt.datetime) -> None:
    """End one that is begun anew: should its worker live, it stops at its next step."""
    run.state, run.next_try_at = RunState.CANCELLED, None
    run.finished_at = run.finished_at or at
    run.save(using=using)


@for_tenant
def wait_for_worker(
    *,
    using: str,
    tenant: str,
    kind: str,
    target: str,
    actor: Actor,
    at: dt.datetime,
) -> Run:
    """Return the run of this work for a worker to take up; made if need be.

    One under way is left as it is. One that did not end well waits to go on.

    Raises:
        Conflict: Another process began the same work in this moment.
    """
    with transaction.atomic(using=using):
        run = _unfinished(using, tenant, kind, target)
        if run is not None and run.state == RunState.RUNNING:
            return run
        given: dict[str, Any] = {"kind": kind, "target": target, "actor": actor}
        run = begin(using=using, tenant=tenant, **given, at=at)
        rest(run, using=using, at=at)
    return run


def _unfinished(using: str, tenant: str, kind: str, target: str) -> Run | None:
    rows = Run.objects.using(using).select_for_update()
    same = rows.filter(tenant=tenant, kind=kind, target=target)
    last = same.order_by("-started_at", "-id").first()
    return None if last is None or last.state == RunState.DONE else last


@for_tenant
def take_up(
    *,
    using: str,
    tenant: str,
    kind: str,
    run_id: uuid.UUID,
    at: dt.datetime,
    ticket: str | None = None,
    unless_held: bool = False,
) -> Run:
    """Go on with one run that is running or has failed.

    For a worker, one that lost its worker has used up a try: what kills it each time
    is given up at last.

    Args:
        kind: Of the work that the caller does; a run of another one is not its.
        ticket: Who held it when the message to go on was sent; one that is not of
            its last holder is too old. None is good at any time.
        unless_held: Not where another process gave a sign of life lately: for workers,
            whose message may come twice.

    Raises:
        NotVisible: There is no such run of this kind, it has ended for good, or the
            ticket is old.
        TakenOver: Another process works on it.
        Conflict: The same work was begun anew meanwhile.
    """
    message = "The same work was begun anew meanwhile."
    with one_running(message), transaction.atomic(using=using):
        rows = Run.objects.using(using).select_for_update()
        found = rows.filter(tenant=tenant, kind=kind, id=run_id)
        run = found.filter(state__in=(RunState.RUNNING, RunState.FAILED)).first()
        if run is None or ticket not in (None, run.cursor.get("holder")):
            raise NotVisible
        if unless_held and _is_held(run):
            if run.heartbeat_at >= silent_since(at):
                message = "Another process works on it."
                raise TakenOver(message, field="run")
            run.attempts += 1
        lost = run.attempts >= settings.RUN_ATTEMPTS and run.state == RunState.RUNNING
        if lost:
            _give_up(run, using, at)
        else:
            _hold(run, using, at)
    if lost:
        raise NotVisible
    return run


def _is_held(run: Run) -> bool:
    held = "holder" in run.cursor and not run.cursor.get("resting")
    return run.state == RunState.RUNNING and held


def _hold(run: Run, using: str, at: dt.datetime) -> None:
    run.state, run.error, run.finished_at = RunState.RUNNING, "", None
    run.next_try_at, run.heartbeat_at, run.taken_up_at = None, at, at
    run.done_before, _ = done_and_total(run)
    run.cursor = run.cursor | {"holder": uuid.uuid4().hex, "resting": False}
    run.save(using=using)


def _give_up(run: Run, using: str, at: dt.datetime) -> None:
    run.state, run.error = RunState.FAILED, "No worker came back from it."
    run.finished_at = run.heartbeat_at = at
    run.save(using=using)


def advance(
    run: Run,
    *,
    using: str,
    cursor: Mapping[str, Any],
    counts: Mapping[str, int],
    at: dt.datetime,
) -> None:
    """Note how far the work is. Call it in the transaction of the step itself.

    Raises:
        TakenOver: Another process took the run up meanwhile, or it was cancelled.
    """
    changes: dict[str, Any] = {
        "cursor": {**_kept(run), **cursor, "holder": run.cursor["holder"]},
        "counts": dict(counts),
        "heartbeat_at": at,
    }
    if changes["counts"] != run.counts:
        changes["attempts"] = 0  # it gets on
    if not update(run, using, changes):
        raise TakenOver


def _kept(run: Run) -> dict[str, Any]:
    return {name: run.cursor[name] for name in ("total",) if name in run.cursor}


def expect(run: Run, *, using: str, total: int, at: dt.datetime) -> None:
    """Note how much there is to do, for who asks how far it is.

    Raises:
        TakenOver: Another process took the run up meanwhile, or it was cancelled.
    """
    cursor = {**run.cursor, "total": total}
    advance(run, using=using, cursor=cursor, counts=run.counts, at=at)


def rest(run: Run, *, using: str, at: dt.datetime) -> str | None:
    """Let go of a run that goes on later; return the ticket to take it up with.

    None where it has ended, or another process took it up meanwhile.
    """
    ticket = uuid.uuid4().hex
    cursor = {**run.cursor, "holder": ticket, "resting": True}
    rests = update(run, using, {"cursor": cursor, "heartbeat_at": at})
    return ticket if rests else None


@contextmanager
def one_running(message: str) -> Iterator[None]:
    """Refuse a second run of the same work.

    Raises:
        Conflict: There is one, with this message.
    """
    try:
        yield
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        raise Conflict(message) from None


def update(run: Run, using: str, changes: Mapping[str, Any]) -> bool:
    """Change a run that is still this process's; tell whether it is."""
    held = Run.objects.using(using).filter(
        tenant=run.tenant,
        id=run.id,
        state=RunState.RUNNING,
        cursor__holder=run.cursor["holder"],
    )
    with acting_for(run.tenant):
        if not held.update(**changes):
            return False
    for name, value in changes.items():
        setattr(run, name, value)
    return True
