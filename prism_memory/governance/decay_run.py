"""Decay by workers: a run waits for one, and goes on in slices."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from typing import Any

from django.utils import timezone

from prism_memory import runs
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.governance.decay import KIND, TARGET, Pass, Rules, fade_scopes
from prism_memory.models import Fact, Run
from prism_memory.types import Actor


@for_tenant
def start_decay(*, using: str, tenant: str, actor: Actor, at: dt.datetime) -> Run:
    """Have the decay of a tenant's facts wait for a worker; return its run.

    Raises:
        Conflict: Another process began it in this moment.
    """
    given: dict[str, Any] = {"kind": KIND, "target": TARGET, "actor": actor}
    return runs.wait_for_worker(using=using, tenant=tenant, **given, at=at)


@for_tenant
def resume_decay(
    *,
    using: str,
    tenant: str,
    run_id: uuid.UUID,
    ticket: str | None = None,
    max_seconds: float | None = None,
) -> str | None:
    """Go on with a decay, for a worker.

    Args:
        ticket: Of the message; see ``runs.take_up``.
        max_seconds: Begin no further batch after that.

    Returns:
        The ticket to go on with, where the time was over; None where it has ended.

    Raises:
        Conflict: Another process works on it, or it was cancelled meanwhile.
        NotVisible: It is switched off meanwhile; the run is cancelled.
    """
    at = timezone.now()
    given: dict[str, Any] = {"using": using, "tenant": tenant, "run_id": run_id}
    try:
        run = runs.take_up(**given, kind=KIND, at=at, ticket=ticket, unless_held=True)
    except NotVisible:
        return None
    end = None if max_seconds is None else time.monotonic() + max_seconds
    with runs.failing(run, using=using):
        rules = Rules.configured()
        if rules.are_off:
            raise NotVisible
        _expect_scopes(using, run)
        ended = fade_scopes(Pass(using, run, Actor(run.actor), rules, at, end))
    return runs.rest(run, using=using, at=timezone.now()) if ended != "done" else None


def _expect_scopes(using: str, run: Run) -> None:
    if "total" not in run.cursor:
        facts = Fact.objects.using(using).filter(
            tenant=run.tenant, closed_at=None, archived_at=None
        )
        total = facts.values("scope_id").distinct().count()
        runs.expect(run, using=using, total=total, at=timezone.now())
