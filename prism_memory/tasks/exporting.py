"""Exports of whole scopes: a task that writes parts, and one that looks who has to.

The run in the database says how far it is. A message only says that it is worth going
on, and a look of beat finds those whose message or worker was lost.
"""

from __future__ import annotations

import logging
import uuid
from typing import Any, Final

from celery import current_app, shared_task
from django.utils import timezone

from prism_memory import indexing, runs
from prism_memory.conf import settings
from prism_memory.errors import Conflict, Misconfigured, NotVisible
from prism_memory.governance import export_removal, export_state, exports
from prism_memory.tasks.sending import Message, sender

logger = logging.getLogger("prism_memory")

EXPORT_SECONDS: Final = 300.0
"""After so long an export makes room for other work, and comes again."""


@shared_task(name="prism_memory.export", acks_late=True, ignore_result=True)
def export(*, using: str, tenant: str, run_id: str, **kwargs: Any) -> None:
    """Write parts of one export."""
    try:
        done = exports.carry_on(
            using=using,
            tenant=tenant,
            run_id=uuid.UUID(run_id),
            max_seconds=EXPORT_SECONDS,
        )
    except (Conflict, NotVisible):
        return  # somebody else is on it, or it has ended
    except Misconfigured as error:
        logger.warning("Export %s stopped: %s", run_id, error)
        return  # the run has failed, and says why
    if not done:
        message(using, tenant, run_id).send()


@shared_task(name="prism_memory.sweep_exports", ignore_result=True)
def sweep_exports(**kwargs: Any) -> None:
    """Go on with exports whose worker or message was lost, and clean after others."""
    using, at = settings.DATABASE, timezone.now()
    tenants = list(indexing.tenants(using=using))
    silent = runs.left_alone(
        using=using,
        kind=export_state.KIND,
        tenants=tenants,
        since=at - exports.SILENT_AFTER,
    )
    for run in silent:
        message(using, run.tenant, str(run.id)).send()
    try:
        export_removal.remove_strays(using=using, tenants=tenants, at=at)
    except Misconfigured as error:
        logger.warning("Files of exports were not looked through: %s", error)


def message(using: str, tenant: str, run_id: str) -> Message:
    """Return what has an export go on."""
    given = {"using": using, "tenant": tenant, "run_id": run_id}
    return Message(export, given, key=("export", run_id))


def on_export_wanted(
    *, using: str, tenant: str, run_id: uuid.UUID, **kwargs: Any
) -> None:
    """Wake a worker; with eager Celery, be the worker."""
    if not settings.WAKE:
        return
    wanted = message(using, tenant, str(run_id))
    if current_app.conf.task_always_eager:
        export.apply(kwargs=dict(wanted.kwargs))
    else:
        sender.post(wanted)
