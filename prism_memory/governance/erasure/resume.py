"""Go on with an erasure, for a worker: a slice of it, or to its end."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from prism_memory import runs
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.governance.erasure.copies import EXPORTS
from prism_memory.governance.erasure.erase import finish_work
from prism_memory.governance.erasure.position import State
from prism_memory.governance.erasure.receipts import conclude
from prism_memory.governance.erasure.state import KIND
from prism_memory.governance.erasure.target import Target, named_by, records_below
from prism_memory.governance.export_removal import exports_of, remove
from prism_memory.models import Run
from prism_memory.types import Actor, Erased, ErasureLevel, Scope


@for_tenant
def resume_erasure(
    *,
    using: str,
    tenant: str,
    run_id: uuid.UUID,
    ticket: str | None = None,
    max_seconds: float | None = None,
) -> str | None:
    """Go on with an erasure that a run stands for, for a worker.

    Args:
        ticket: Of the message; see ``runs.take_up``.
        max_seconds: Begin no further page after that.

    Returns:
        The ticket to go on with, where the time was over; None where it has ended.

    Raises:
        Conflict: As ``erase``, or another process works on it.
    """
    at = timezone.now()
    given: dict[str, Any] = {"using": using, "tenant": tenant, "run_id": run_id}
    try:
        run = runs.take_up(**given, kind=KIND, at=at, ticket=ticket, unless_held=True)
    except NotVisible:
        return None
    end = None if max_seconds is None else time.monotonic() + max_seconds
    with runs.failing(run, using=using):
        try:
            _resumed(using, run, partial(_stop_late, end))
        except _TimeIsOver:
            return runs.rest(run, using=using, at=timezone.now())
    return None


class _TimeIsOver(Exception):
    """Another slice goes on."""


def _stop_late(end: float | None, state: State) -> None:
    del state
    if end is not None and time.monotonic() >= end:
        raise _TimeIsOver


def _resumed(using: str, run: Run, progress: Callable[[State], None]) -> Erased:
    actor, level = Actor(run.actor), run.cursor["level"]
    target = named_by(using=using, tenant=run.tenant, level=level, ref=run.target)
    if target is None:
        return _gone(using, run, level, actor, timezone.now())
    if target.is_scope and "total" not in run.cursor:
        total = records_below(using=using, target=target)
        runs.expect(run, using=using, total=total, at=timezone.now())
    return finish_work(using, target, run, actor, progress)


def _gone(using: str, run: Run, level: str, actor: Actor, at: dt.datetime) -> Erased:
    """End a run whose target is gone: by itself, or by a wider erasure."""
    target = Target(ErasureLevel(level), run.target, Scope(run.tenant))
    state = State.of(run)
    ids = (*run.cursor["scope_ids"], *state.elsewhere)
    found = exports_of(
        using=using, tenant=run.tenant, scope_ids=[uuid.UUID(text) for text in ids]
    )
    for export in found:
        remove(using=using, run=export, actor=actor, at=at)
    state = state.plus(Counter({EXPORTS: len(found)}))
    with transaction.atomic(using=using):
        return conclude(
            using=using,
            target=target,
            run=run,
            actor=actor,
            state=state,
            at=at,
        )
