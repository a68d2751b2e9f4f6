"""Fills by workers: a run waits for one, and goes on in slices."""

from __future__ import annotations

import datetime as dt
import uuid
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from prism_memory import backends, runs
from prism_memory.conf import settings
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.indexing.claims import Queue
from prism_memory.indexing.fill import KIND, fill_run
from prism_memory.indexing.spaces import Space, embedder_of, space_of
from prism_memory.indexing.switch import behind
from prism_memory.models import EmbeddingSpace, Run, RunState, SpaceState
from prism_memory.types import Actor

AFTERMATH: Final = dt.timedelta(minutes=5)
LOOKED_OVER: Final = dt.timedelta(days=1)
"""How long after a switch the new space is looked over once more, at the latest."""


@for_tenant
def start_fill(
    *, using: str, tenant: str, space: Space, actor: Actor, at: dt.datetime
) -> Run:
    """Have a worker give a space what it lacks of a tenant; return the run.

    Raises:
        Conflict: Another process began it in this moment.
    """
    given: dict[str, Any] = {"kind": KIND, "target": f"space:{space.id}"}
    with transaction.atomic(using=using):
        run = runs.wait_for_worker(
            using=using, tenant=tenant, **given, actor=actor, at=at
        )
        runs.announce(run, using=using)
    return run


@for_tenant
def resume_fill(
    *,
    using: str,
    tenant: str,
    run_id: uuid.UUID,
    ticket: str | None = None,
    max_seconds: float | None = None,
) -> str | None:
    """Go on with a fill, for a worker. Calls the embedder.

    Args:
        ticket: Of the message; see ``runs.take_up``.
        max_seconds: Begin no further page after that.

    Returns:
        The ticket to go on with, where the time was over; None where it has ended.

    Raises:
        Conflict: Another process works on it, or it was cancelled meanwhile.
        EmbedderMismatch, Misconfigured: Nothing can embed for its space.
        ProviderUnavailable: As ``fill``; tried again later.
    """
    given: dict[str, Any] = {"using": using, "tenant": tenant, "run_id": run_id}
    try:
        run = runs.take_up(
            **given, kind=KIND, at=timezone.now(), ticket=ticket, unless_held=True
        )
    except NotVisible:
        return None
    with runs.failing(run, using=using):
        space = _space_of(using, run)
        done = fill_run(
            run,
            queue=Queue(using, tenant, space),
            embed=partial(backends.embed, embedder_of(space), role="passage"),
            rows=settings.REBUILD_ROWS,
            max_seconds=max_seconds,
        )
    return None if done.done else runs.rest(run, using=using, at=timezone.now())


@for_tenant
def is_to_fill(*, using: str, tenant: str, space: Space, other: Space) -> bool:
    """Tell whether a space that is being built lacks something of a tenant.

    Two queries at most. Where no fill has ended since it began to be built, it may hold
    vectors of texts that changed while it was retired.

    Args:
        space: What answers now.
        other: What is being built.
    """
    if behind(using=using, tenant=tenant, space=space, other=other):
        return True
    row = EmbeddingSpace.objects.using(using).get(id=other.id)
    return not _is_filled(using, tenant, other, row.state_since)


@for_tenant
def is_to_catch_up(
    *, using: str, tenant: str, space: Space, since: dt.datetime
) -> bool:
    """Tell whether a space that was switched to is to be filled once more. One query.

    Args:
        since: As ``switched_lately`` says.
    """
    return not _is_filled(using, tenant, space, since)


def switched_lately(*, using: str, at: dt.datetime) -> list[tuple[Space, dt.datetime]]:
    """Return spaces that were switched to within a day, and since when. One query.

    Who was not waited for, or read as of long ago, may have written to the old one
    alone: all that is found some minutes afterwards.
    """
    rows = EmbeddingSpace.objects.using(using).filter(
        state=SpaceState.ACTIVE,
        state_since__gt=F("created_at"),
        state_since__gte=at - LOOKED_OVER,
        state_since__lte=at - AFTERMATH,
    )
    return [(space_of(row), row.state_since + AFTERMATH) for row in rows]


def _is_filled(using: str, tenant: str, space: Space, since: dt.datetime) -> bool:
    given = {"tenant": tenant, "kind": KIND, "target": f"space:{space.id}"}
    done = Run.objects.using(using).filter(**given, state=RunState.DONE)
    return done.filter(started_at__gte=since).exists()


def _space_of(using: str, run: Run) -> Space:
    space_id = int(run.target.partition(":")[2])
    row = EmbeddingSpace.objects.using(using).filter(id=space_id).first()
    if row is None:  # it was dropped
        raise NotVisible
    return space_of(row)
