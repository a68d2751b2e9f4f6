"""Sweeps by workers: one waits for each policy in force, and goes on in slices."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from contextlib import suppress
from typing import Any

from django.utils import timezone

from prism_memory import runs
from prism_memory.conf import settings
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, NotVisible
from prism_memory.governance.retention.listing import KIND
from prism_memory.governance.retention.policies import enabled_policies
from prism_memory.governance.retention.sweeping import work_on
from prism_memory.models import RetentionPolicy, Run, Scope
from prism_memory.types import Actor


@for_tenant
def start_sweeps(
    *, using: str, tenant: str, actor: Actor, at: dt.datetime
) -> list[Run]:
    """Have a sweep wait for a worker for each policy in force; return their runs."""
    waiting: list[Run] = []
    given: dict[str, Any] = {"using": using, "tenant": tenant, "kind": KIND}
    for policy in enabled_policies(using=using, tenant=tenant):
        with suppress(Conflict):  # another process began it in this moment
            waiting.append(
                runs.wait_for_worker(**given, target=str(policy.id), actor=actor, at=at)
            )
    return waiting


@for_tenant
def resume_sweep(
    *,
    using: str,
    tenant: str,
    run_id: uuid.UUID,
    ticket: str | None = None,
    max_seconds: float | None = None,
) -> str | None:
    """Go on with a sweep, for a worker.

    Args:
        ticket: Of the message; see ``runs.take_up``.
        max_seconds: Begin no further page after that.

    Returns:
        The ticket to go on with, where the time was over; None where it has ended.

    Raises:
        Conflict: Another process works on it, or others keep rows locked; then the run
            says so and is tried again later.
    """
    given: dict[str, Any] = {"using": using, "tenant": tenant, "run_id": run_id}
    try:
        run = runs.take_up(
            **given, kind=KIND, at=timezone.now(), ticket=ticket, unless_held=True
        )
    except NotVisible:
        return None
    end = None if max_seconds is None else time.monotonic() + max_seconds
    with runs.failing(run, using=using):
        _expect_scopes(using, run)
        ended = work_on(
            using=using,
            policy=_policy_of(using, run),
            run=run,
            actor=Actor(run.actor),
            batch=settings.RETENTION_BATCH,
            end=end,
        )
    if ended != "unfinished":
        return None
    return runs.rest(run, using=using, at=timezone.now())


def _policy_of(using: str, run: Run) -> RetentionPolicy:
    rows = RetentionPolicy.objects.using(using).filter(tenant=run.tenant, enabled=True)
    policy = rows.filter(id=run.target).first()
    if policy is None:
        raise NotVisible
    return policy


def _expect_scopes(using: str, run: Run) -> None:
    if "total" not in run.cursor:
        scopes = Scope.objects.using(using).filter(tenant=run.tenant)
        runs.expect(run, using=using, total=scopes.count(), at=timezone.now())
