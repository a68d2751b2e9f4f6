"""Erase a record, a source, or a scope with all below it: one routine for all."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from prism_memory import audit, runs
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import PrismMemoryError, Unsupported
from prism_memory.governance.erasure import pages
from prism_memory.governance.erasure.position import State
from prism_memory.governance.erasure.receipts import nothing_found
from prism_memory.governance.erasure.state import KIND, at_once, erasing
from prism_memory.governance.erasure.target import Target, find, has_row
from prism_memory.governance.erasure.work import Work
from prism_memory.indexing import in_host_transaction
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.types import Actor, Erased, Erasing, Scope


@for_tenant
def erase(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    record_id: uuid.UUID | None = None,
    source_key: str | None = None,
    reason: str = "",
    progress: Callable[[State], None] | None = None,
) -> Erased:
    """Erase a record or a source of exactly ``scope``, or the scope with all below it.

    Records go with their vectors, links and histories; all that is derived from them
    goes too, wherever in the tenant it is. What a hold keeps stays, with what it needs,
    and the receipt says so. In transactions of 1,000 records; one that was interrupted
    goes on. What is committed in the target before the last transaction is gone; what
    is written later stays, and ``finished_at`` tells them apart.

    Args:
        record_id: Only this record.
        source_key: Only the source of this key, with its records.
        reason: For the audit; no text content.
        progress: Called after each page.

    Raises:
        Invalid: A record and a source at once, or a key that none can have.
        Conflict: Another process took the same erasure up meanwhile, or an open
            transaction holds what is to be erased for minutes.
        Unsupported: A scope, in a host's transaction; or a transaction that is not
            READ COMMITTED.
    """
    target = find(using=using, scope=scope, record_id=record_id, source_key=source_key)
    if target.is_scope and in_host_transaction(using):
        message = "A scope is erased in transactions of its own, not in an open one."
        raise Unsupported(message)
    if not target.found and not _is_half_done(using, target):
        with transaction.atomic(using=using):
            return nothing_found(
                using=using, target=target, actor=actor, at=at, reason=reason
            )
    run = _begin(using, target, actor, at, reason)
    with runs.failing(run, using=using):
        return finish_work(using, target, run, actor, progress)


@for_tenant
def start_erasure(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    record_id: uuid.UUID | None = None,
    source_key: str | None = None,
    reason: str = "",
) -> Erasing:
    """Have a worker erase; return how far it is. As ``erase`` otherwise.

    Started again while it runs, it is the same one. Nothing found: done at once.

    Raises:
        Conflict: Another process began the same erasure in this moment.
    """
    target = find(using=using, scope=scope, record_id=record_id, source_key=source_key)
    with transaction.atomic(using=using):
        if not target.found and not _is_half_done(using, target):
            done = nothing_found(
                using=using, target=target, actor=actor, at=at, reason=reason
            )
            return at_once(done)
        running = Run.objects.using(using).filter(
            tenant=target.tenant,
            kind=KIND,
            target=target.ref,
            state=RunState.RUNNING,
        )
        run = running.first()
        if run is None:
            run = _begin(using, target, actor, at, reason)
            runs.rest(run, using=using, at=at)
        runs.announce(run, using=using)
    return erasing(using=using, run=run)


def _is_half_done(using: str, target: Target) -> bool:
    """Tell whether an erasure took the rows and could not end. One query."""
    rows = Run.objects.using(using).filter(
        tenant=target.tenant, kind=KIND, target=target.ref
    )
    last = rows.order_by("-started_at", "-id").first()
    if last is None or last.state == RunState.DONE:
        return False
    return bool(last.cursor.get("scope_ids") == target.scope_ids)  # not a stranger's


def _begin(
    using: str, target: Target, actor: Actor, at: dt.datetime, reason: str
) -> Run:
    """Take the work up, or begin it: with a row that keeps the names to the end."""
    with transaction.atomic(using=using):
        run = runs.begin(
            using=using,
            tenant=target.tenant,
            kind=KIND,
            target=target.ref,
            actor=actor,
            at=at,
        )
        if "level" in run.cursor:
            return run
        made = target.is_scope and not has_row(using=using, scope=target.scope)
        if made:
            ensure_scope(using=using, scope=target.scope, at=at)
        cursor = {
            "level": target.level.value,
            "scope_ids": target.scope_ids,
            "made": made,
        }
        runs.advance(run, using=using, cursor=cursor, counts={}, at=at)
        audit.record(
            using=using,
            tenant=target.tenant,
            actor=actor,
            action="memory.erase_start",
            target=target.ref,
            at=at,
            reason=reason,
            detail={"run": str(run.id), "level": target.level.value},
        )
    return run


def finish_work(
    using: str,
    target: Target,
    run: Run,
    actor: Actor,
    progress: Callable[[State], None] | None,
) -> Erased:
    """Work on a run to its end; note how it ended."""
    hosted = in_host_transaction(using)
    given = (using, target, run, actor, State.of(run), progress, pages.PAGE, hosted)
    work = Work(*given)
    try:
        return work.finish()
    except runs.TakenOver:
        raise
    except PrismMemoryError as error:
        at = timezone.now()
        runs.finish(run, using=using, state=RunState.FAILED, at=at, error=error.code)
        raise
    except KeyboardInterrupt:
        at = timezone.now()
        runs.finish(run, using=using, state=RunState.CANCELLED, at=at)
        raise
