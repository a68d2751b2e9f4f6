"""Long work that can be resumed: who does it, how far it is, how it ended.

No lock is held between two steps. Who takes a run up writes a token of its own into
it, and every step checks that the token still stands: of two processes on one run the
later goes on, and the earlier stops at its next step.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from psycopg.errors import UniqueViolation

from prism_memory import signals
from prism_memory.db.tenancy import acting_for, for_tenant
from prism_memory.errors import Conflict, NotVisible
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.spans import hashed, of_the_past
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
        anew: Begin a new one, whatever there was.

    Raises:
        Conflict: Another process began the same work in this moment.
    """
    holder = {"holder": uuid.uuid4().hex}
    try:
        with transaction.atomic(using=using):
            run = None if anew else _unfinished(using, tenant, kind, target)
            if run is None:
                return Run.objects.using(using).create(
                    tenant=tenant,
                    kind=kind,
                    target=target,
                    actor=actor.name,
                    cursor=holder,
                    started_at=at,
                    heartbeat_at=at,
                )
            run.state, run.error, run.finished_at = RunState.RUNNING, "", None
            run.cursor, run.actor, run.heartbeat_at = (
                run.cursor | holder,
                actor.name,
                at,
            )
            run.save(using=using)
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        message = f"Another process began the same {kind} in this moment."
        raise Conflict(message) from None
    return run


def _unfinished(using: str, tenant: str, kind: str, target: str) -> Run | None:
    rows = Run.objects.using(using).select_for_update()
    same = rows.filter(tenant=tenant, kind=kind, target=target)
    last = same.order_by("-started_at", "-id").first()
    return None if last is None or last.state == RunState.DONE else last


@for_tenant
def take_up(*, using: str, tenant: str, run_id: uuid.UUID, at: dt.datetime) -> Run:
    """Go on with one run that is running or has failed.

    Raises:
        NotVisible: There is no such run, or it has ended for good.
        Conflict: The same work was begun anew meanwhile.
    """
    holder = {"holder": uuid.uuid4().hex}
    try:
        with transaction.atomic(using=using):
            rows = Run.objects.using(using).select_for_update()
            found = rows.filter(tenant=tenant, id=run_id)
            run = found.filter(state__in=(RunState.RUNNING, RunState.FAILED)).first()
            if run is None:
                raise NotVisible
            run.state, run.error, run.finished_at = RunState.RUNNING, "", None
            run.cursor, run.heartbeat_at = run.cursor | holder, at
            run.save(using=using)
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        message = "The same work was begun anew meanwhile."
        raise Conflict(message) from None
    return run


def left_alone(
    *, using: str, kind: str, tenants: Iterable[str], since: dt.datetime
) -> Iterator[Run]:
    """Yield running work without a sign of life since then. A query for each tenant."""
    for tenant in tenants:
        rows = Run.objects.using(using).filter(tenant=tenant, kind=kind)
        silent = rows.filter(state=RunState.RUNNING, heartbeat_at__lt=since)
        with acting_for(tenant):
            found = list(silent.order_by("id"))
        yield from found


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
        TakenOver: Another process took the run up meanwhile.
    """
    changes = {
        "cursor": {**cursor, "holder": run.cursor["holder"]},
        "counts": dict(counts),
        "heartbeat_at": at,
    }
    if not _update(run, using, changes):
        raise TakenOver


def finish(
    run: Run, *, using: str, state: RunState, at: dt.datetime, error: str = ""
) -> None:
    """Note how the work ended, unless another process took it up meanwhile.

    Args:
        error: What went wrong and where; no text content.
    """
    changes = {"state": state, "error": error, "finished_at": at, "heartbeat_at": at}
    if _update(run, using, changes):
        transaction.on_commit(partial(_tell, run, using), using=using, robust=True)


def _tell(run: Run, using: str) -> None:
    """Tell of work that ended: a span over the whole of it, and the signal."""
    numbers = {name: n for name, n in run.counts.items() if isinstance(n, int | float)}
    told = {"tenant": hashed(run.tenant), "kind": run.kind, "state": str(run.state)}
    if run.finished_at is not None:
        span = {**numbers, **told}
        of_the_past("run", span, start=run.started_at, end=run.finished_at)
    signals.run_ended.send_robust(sender=Run, using=using, run=run)


def _update(run: Run, using: str, changes: Mapping[str, Any]) -> bool:
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
