"""Rebuilds by workers: a run waits for one, and goes on in slices."""

from __future__ import annotations

import datetime as dt
import uuid
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from prism_memory import backends, runs
from prism_memory.conf import settings
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.indexing.claims import Queue
from prism_memory.indexing.rebuild import rebuild_run
from prism_memory.indexing.spaces import Space, embedder_of, space_of
from prism_memory.models import Embedding, EmbeddingSpace, Run
from prism_memory.types import Actor

KIND: Final = "rebuild"


@for_tenant
def start_rebuild(
    *, using: str, tenant: str, space: Space, actor: Actor, at: dt.datetime
) -> Run:
    """Have a worker embed all of a tenant anew; return the run.

    One that failed goes on where it was.

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
def resume_rebuild(
    *,
    using: str,
    tenant: str,
    run_id: uuid.UUID,
    ticket: str | None = None,
    max_seconds: float | None = None,
) -> str | None:
    """Go on with a rebuild, for a worker. Calls the embedder.

    Args:
        ticket: Of the message; see ``runs.take_up``.
        max_seconds: Begin no further page after that.

    Returns:
        The ticket to go on with, where the time was over; None where it has ended.

    Raises:
        Conflict: Another process works on it, or it was cancelled meanwhile.
        EmbedderMismatch, Misconfigured: Nothing can embed for its space.
        ProviderUnavailable, ProviderRejected: As ``rebuild``; tried again later.
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
        _expect_vectors(using, run, space)
        done = rebuild_run(
            run,
            queue=Queue(using, tenant, space),
            embed=partial(backends.embed, embedder_of(space), role="passage"),
            rows=settings.REBUILD_ROWS,
            max_seconds=max_seconds,
        )
    return None if done.done else runs.rest(run, using=using, at=timezone.now())


def _space_of(using: str, run: Run) -> Space:
    space_id = int(run.target.partition(":")[2])
    row = EmbeddingSpace.objects.using(using).filter(id=space_id).first()
    if row is None:
        raise NotVisible
    return space_of(row)


def _expect_vectors(using: str, run: Run, space: Space) -> None:
    if "total" not in run.cursor:
        rows = Embedding.objects.using(using).filter(
            tenant=run.tenant, space_id=space.id, vector__isnull=False
        )
        runs.expect(run, using=using, total=rows.count(), at=timezone.now())
