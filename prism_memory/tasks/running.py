"""Runs: one task for each kind of work that is resumed, and what wakes a worker.

The run in the database says how far it is. A message only says that it is worth going
on; a slice that ends sends the next one, and the sweep finds those whose message or
worker was lost, and those that failed and are due again.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from typing import Any, Final, Protocol

from celery import current_app
from django.utils import timezone

from prism_memory import indexing, runs
from prism_memory.conf import settings
from prism_memory.errors import NotVisible, PrismMemoryError
from prism_memory.governance import decay_run, erasure, exports, retention
from prism_memory.models import Run
from prism_memory.tasks.base import slice_seconds, task
from prism_memory.tasks.sending import Message, sender

logger = logging.getLogger("prism_memory")


class Resume(Protocol):
    """Goes on with a run; returns the ticket of the next slice, or None at its end."""

    def __call__(
        self,
        *,
        using: str,
        tenant: str,
        run_id: uuid.UUID,
        ticket: str | None,
        max_seconds: float | None,
    ) -> str | None: ...


@task("erase")
def erase(**given: Any) -> None:
    """Go on with an erasure."""
    go_on("erase", erasure.resume_erasure, **given)


@task("export")
def export(**given: Any) -> None:
    """Go on with an export."""
    go_on("export", exports.resume_export, **given)


@task("retain")
def retain(**given: Any) -> None:
    """Go on with a sweep by a policy of retention."""
    go_on("retention", retention.resume_sweep, **given)


@task("decay")
def fade(**given: Any) -> None:
    """Go on with putting aside what fades of a tenant's facts."""
    go_on("decay", decay_run.resume_decay, **given)


@task("rebuild")
def rebuild(**given: Any) -> None:
    """Go on with embedding a tenant anew."""
    go_on("rebuild", indexing.resume_rebuild, **given)


@task("fill")
def fill(**given: Any) -> None:
    """Go on with giving a space what it lacks of a tenant."""
    go_on("fill", indexing.resume_fill, **given)


TASKS: Final[dict[str, Any]] = {
    "erase": erase,
    "export": export,
    "retention": retain,
    "decay": fade,
    "rebuild": rebuild,
    "fill": fill,
}
"""The task that goes on with a run, by the run's kind."""


def go_on(
    kind: str,
    resume: Resume,
    *,
    using: str,
    tenant: str,
    run_id: str,
    ticket: str | None = None,
    **kwargs: Any,
) -> None:
    """Work on a run for one slice; nothing where it has ended or others work on it.

    Nor where the message names no run of this kind.
    """
    if (named := _read(run_id)) is None:
        logger.warning("A message for %s names no run.", kind)
        return
    try:
        following = resume(
            using=using,
            tenant=tenant,
            run_id=named,
            ticket=ticket,
            max_seconds=slice_seconds(),
        )
    except (runs.TakenOver, NotVisible):
        return  # somebody else is on it, or it was cancelled
    except PrismMemoryError as error:
        # The run has failed, says why, and is tried again later.
        logger.warning("Run %s (%s) stopped: %s: %s", run_id, kind, error.code, error)
        return
    if following is not None:
        message(using, tenant, kind, run_id, following).send()


def _read(run_id: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(run_id)
    except ValueError:
        return None


def message(
    using: str, tenant: str, kind: str, run_id: str, ticket: str | None
) -> Message:
    """Return what has a run go on: ids, no names but the tenant's."""
    given = {"using": using, "tenant": tenant, "run_id": run_id, "ticket": ticket}
    return Message(TASKS[kind], given, key=(kind, run_id))


def message_of(using: str, run: Run) -> Message:
    """Return what has a run go on that nobody works on."""
    ticket = run.cursor.get("holder")
    return message(using, run.tenant, run.kind, str(run.id), ticket)


def left_alone(using: str, tenant: str) -> Iterator[Message]:
    """Yield what goes on with a tenant's runs whose message or worker was lost."""
    found = runs.left_alone(using=using, tenant=tenant, at=timezone.now())
    yield from (message_of(using, run) for run in found)


def on_run_wanted(
    *,
    using: str,
    tenant: str,
    kind: str,
    run_id: uuid.UUID,
    ticket: str | None,
    **kwargs: Any,
) -> None:
    """Wake a worker; with eager Celery, be the worker."""
    if not settings.WAKE or kind not in TASKS:
        return
    wanted = message(using, tenant, kind, str(run_id), ticket)
    if current_app.conf.task_always_eager:
        wanted.task.apply(kwargs=dict(wanted.kwargs))
    else:
        sender.post(wanted)
