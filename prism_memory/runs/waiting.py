"""Work that waits for a worker: its message or its worker was lost, or it failed."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Q

from prism_memory import signals
from prism_memory.conf import settings
from prism_memory.db.tenancy import for_tenant
from prism_memory.models import Run
from prism_memory.models.choices import RunState

BY_WORKERS: Final = frozenset(
    {"erase", "export", "retention", "decay", "rebuild", "fill"}
)
"""Kinds that a worker goes on with; others go on when their command is run again."""


def silent_since(at: dt.datetime) -> dt.datetime:
    """Return before when the last sign of life of a lost worker was."""
    return at - dt.timedelta(seconds=settings.RUN_SILENT_SECONDS)


def is_silent(run: Run, at: dt.datetime) -> bool:
    """Tell whether a running run has lost its worker."""
    return run.state == RunState.RUNNING and run.heartbeat_at < silent_since(at)


@for_tenant
def left_alone(*, using: str, tenant: str, at: dt.datetime) -> list[Run]:
    """Return what a worker has to go on with: without a sign of life, or due again.

    One query.
    """
    rows = Run.objects.using(using).filter(tenant=tenant, kind__in=BY_WORKERS)
    silent = Q(state=RunState.RUNNING, heartbeat_at__lt=silent_since(at))
    due = Q(next_try_at__lte=at)
    return list(rows.filter(silent | due).order_by("id"))


def announce(run: Run, *, using: str) -> None:
    """Tell a worker of a run that waits for one, after the commit."""
    send = partial(
        signals.run_wanted.send_robust,
        sender=Run,
        using=using,
        tenant=run.tenant,
        kind=run.kind,
        run_id=run.id,
        ticket=run.cursor.get("holder"),
    )
    transaction.on_commit(send, using=using, robust=True)
