"""How runs end: by themselves, by a fault, or as somebody says; and begin again."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Literal

from django.db import DatabaseError, transaction
from django.utils import timezone

from prism_memory.conf import settings
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, NotVisible, PrismMemoryError
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.runs.holding import TakenOver, one_running, update
from prism_memory.runs.pausing import back_off_seconds
from prism_memory.runs.telling import tell_ended
from prism_memory.runs.waiting import BY_WORKERS, is_silent


def finish(
    run: Run, *, using: str, state: RunState, at: dt.datetime, error: str = ""
) -> None:
    """Note how the work ended, unless another process took it up meanwhile.

    One that failed is tried again by a worker, later each time, up to ``RUN_ATTEMPTS``.

    Args:
        error: What went wrong and where; no text content.
    """
    changes = {
        "state": state,
        "error": error,
        "finished_at": at,
        "heartbeat_at": at,
        "next_try_at": None,
    }
    if state == RunState.FAILED:
        tries = run.attempts + 1
        changes |= {"attempts": tries, "next_try_at": _next_try(run.kind, tries, at)}
    if update(run, using, changes):
        transaction.on_commit(partial(tell_ended, run, using), using=using, robust=True)


def _next_try(kind: str, tries: int, at: dt.datetime) -> dt.datetime | None:
    if kind not in BY_WORKERS or tries >= settings.RUN_ATTEMPTS:
        return None
    return at + dt.timedelta(seconds=back_off_seconds(tries))


@contextmanager
def failing(run: Run, *, using: str) -> Iterator[None]:
    """Note in the run what ends a block early; a Ctrl-C cancels it.

    So does ``NotVisible``: what it is about is gone.

    Errors of others are noted by their class alone: their words may hold text.
    """
    with ExitStack() as stack:
        stack.push(partial(_note, run, using))
        yield


def _note(
    run: Run,
    using: str,
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> Literal[False]:
    del trace
    if kind is None or issubclass(kind, TakenOver | GeneratorExit):
        return False
    ours = isinstance(error, PrismMemoryError)
    told = f"{error.code}: {error}" if ours else kind.__name__  # type: ignore[union-attr]
    # What it worked on is gone, or somebody stopped it: no worker tries that again.
    over = issubclass(kind, KeyboardInterrupt | NotVisible)
    # Without a database nothing can be noted: the run falls silent, and is found.
    with suppress(DatabaseError):
        finish(
            run,
            using=using,
            state=RunState.CANCELLED if over else RunState.FAILED,
            at=timezone.now(),
            error="" if issubclass(kind, KeyboardInterrupt) else told,
        )
    return False


@for_tenant
def cancel(*, using: str, tenant: str, run_id: uuid.UUID, at: dt.datetime) -> Run:
    """End a run that runs, or is to be tried again. Inside a transaction.

    Who works on it stops at its next step; what is done stays done.

    Raises:
        NotVisible: The tenant has no such run.
        Conflict: It has ended.
    """
    run = _locked(using, tenant, run_id)
    if run.state in (RunState.DONE, RunState.CANCELLED):
        message = f"The run is {run.state} already."
        raise Conflict(message, field="run")
    run.state, run.next_try_at = RunState.CANCELLED, None
    run.finished_at = run.finished_at or at
    run.save(using=using)
    transaction.on_commit(partial(tell_ended, run, using), using=using, robust=True)
    return run


@for_tenant
def retry(*, using: str, tenant: str, run_id: uuid.UUID, at: dt.datetime) -> Run:
    """Let a run wait for a worker again, with all its tries. Inside a transaction.

    Raises:
        NotVisible: The tenant has no such run.
        Conflict: It is done, somebody works on it, the same work was begun anew
            meanwhile, or no worker can go on with it.
    """
    run = _locked(using, tenant, run_id)
    _require_retriable(run, at)
    run.state, run.error, run.finished_at = RunState.RUNNING, "", None
    run.attempts, run.next_try_at, run.heartbeat_at = 0, None, at
    run.cursor = run.cursor | {"holder": uuid.uuid4().hex, "resting": True}
    with one_running("The same work was begun anew meanwhile."):
        run.save(using=using)
    return run


def _require_retriable(run: Run, at: dt.datetime) -> None:
    refusal = ""
    if run.kind not in BY_WORKERS:
        refusal = "No worker goes on with it: run its command again."
    elif run.cursor.get("deleted"):
        refusal = "Its files were removed: begin a new one."
    elif run.state == RunState.DONE:
        refusal = "The run is done."
    elif run.state == RunState.RUNNING and not is_silent(run, at):
        refusal = "The run is under way."
    if refusal:
        raise Conflict(refusal, field="run")


def _locked(using: str, tenant: str, run_id: uuid.UUID) -> Run:
    rows = Run.objects.using(using).select_for_update()
    run = rows.filter(tenant=tenant, id=run_id).first()
    if run is None:
        raise NotVisible
    return run
