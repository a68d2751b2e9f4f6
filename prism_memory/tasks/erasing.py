"""Erasures of whole scopes: a task that works, and one that looks who has to.

The run in the database says how far it is. A message only says that it is worth going
on, and a look of beat finds those whose message or worker was lost.
"""

from __future__ import annotations

import logging
import uuid
from typing import Any

from celery import current_app, shared_task
from django.utils import timezone

from prism_memory import indexing, runs
from prism_memory.conf import settings
from prism_memory.errors import PrismMemoryError
from prism_memory.governance import erasure
from prism_memory.runs import TakenOver
from prism_memory.tasks.sending import Message, sender

logger = logging.getLogger("prism_memory")


@shared_task(name="prism_memory.erase", acks_late=True, ignore_result=True)
def erase(*, using: str, tenant: str, run_id: str, **kwargs: Any) -> None:
    """Go on with one erasure to its end; nothing where it has ended."""
    try:
        erasure.resume_erasure(using=using, tenant=tenant, run_id=uuid.UUID(run_id))
    except TakenOver:
        return  # somebody else is on it
    except PrismMemoryError as error:
        # The run has failed, and says why; whoever started it may start it again.
        logger.warning("Erasure %s stopped: %s", run_id, error.code)


@shared_task(name="prism_memory.sweep_erasures", ignore_result=True)
def sweep_erasures(**kwargs: Any) -> None:
    """Go on with erasures whose worker or message was lost."""
    using = settings.DATABASE
    silent = runs.left_alone(
        using=using,
        kind=erasure.KIND,
        tenants=indexing.tenants(using=using),
        since=timezone.now() - erasure.SILENT_AFTER,
    )
    for run in silent:
        message(using, run.tenant, str(run.id)).send()


def message(using: str, tenant: str, run_id: str) -> Message:
    """Return what has an erasure go on: ids, no names but the tenant's."""
    given = {"using": using, "tenant": tenant, "run_id": run_id}
    return Message(erase, given, key=("erase", run_id))


def on_erasure_wanted(
    *, using: str, tenant: str, run_id: uuid.UUID, **kwargs: Any
) -> None:
    """Wake a worker; with eager Celery, be the worker."""
    if not settings.WAKE:
        return
    wanted = message(using, tenant, str(run_id))
    if current_app.conf.task_always_eager:
        erase.apply(kwargs=dict(wanted.kwargs))
    else:
        sender.post(wanted)
