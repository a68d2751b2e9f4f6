"""Remove the files of exports, and end those that still run."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable
from typing import Final

from django.db import transaction

from prism_memory import models, runs
from prism_memory.db.tenancy import acting_for, for_tenant
from prism_memory.errors import NotVisible
from prism_memory.governance import export_files as files
from prism_memory.governance.export_state import KIND, Position, note, scope_of
from prism_memory.governance.exports import find
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.types import Actor, Scope

STRAYS_FOR: Final = dt.timedelta(days=2)
"""So long after its end an export is looked at for files that nobody names."""


@for_tenant
def delete_export(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    run_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> None:
    """Remove the files of an export; end it where it still runs. Audited.

    Raises:
        NotVisible: There is no such export of this scope.
        Misconfigured: The storage failed; what is left goes with the next try.
    """
    _delete(using, find(using, scope, run_id), actor, at, reason)


@for_tenant
def delete_run(
    *,
    using: str,
    tenant: str,
    actor: Actor,
    run_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> None:
    """Do as ``delete_export``, for an operator: whatever scope of the tenant it is of.

    Raises:
        NotVisible: The tenant has no such export.
        Misconfigured: The storage failed; what is left goes with the next try.
    """
    rows = Run.objects.using(using).filter(tenant=tenant, kind=KIND, id=run_id)
    run = rows.first()
    if run is None:
        raise NotVisible
    _delete(using, run, actor, at, reason)


@for_tenant
def delete_exports(*, using: str, scope: Scope, actor: Actor, at: dt.datetime) -> int:
    """Remove the files of every export that may hold records of ``scope`` or below.

    Those of the scopes above hold them too. Call it outside of a transaction. Returns
    how many exports it was.

    Raises:
        Misconfigured: The storage failed; what is left goes with the next try.
    """
    meant = [level.id for level in scope.chain()]
    chosen = exports_of(using=using, tenant=scope.tenant, scope_ids=meant, root=scope)
    for run in chosen:
        remove(using=using, run=run, actor=actor, at=at)
    return len(chosen)


def exports_of(
    *,
    using: str,
    tenant: str,
    scope_ids: Iterable[uuid.UUID],
    root: Scope | None = None,
) -> list[Run]:
    """Return the exports whose files are not removed. One query, or two.

    Also those whose scope has no row any more: it was erased. Nobody else finds them.

    Args:
        scope_ids: Of exactly these scopes.
        root: And of all below it.
    """
    rows = Run.objects.using(using).filter(tenant=tenant, kind=KIND)
    found = list(rows.filter(cursor__deleted__isnull=True).order_by("id"))
    ids = {scope_of(run) for run in found}
    if not ids:
        return []
    places = models.Scope.objects.using(using).filter(tenant=tenant, id__in=ids)
    there = {place.id: place.value for place in places}
    meant = set(scope_ids) | (ids - there.keys())
    if root is not None:
        meant |= {place_id for place_id, value in there.items() if root.opens(value)}
    return [run for run in found if scope_of(run) in meant]


def remove(*, using: str, run: Run, actor: Actor, at: dt.datetime) -> None:
    """Remove the files of one export; end it where it still runs. Audited.

    Call it outside of a transaction.

    Raises:
        Misconfigured: The storage failed; what is left goes with the next try.
    """
    _delete(using, run, actor, at, "")


def remove_strays(*, using: str, tenants: Iterable[str], at: dt.datetime) -> int:
    """Remove files that no run names, of exports that ended lately; return how many.

    A process that died between writing a file and noting it may have left them. A
    query for each tenant.

    Raises:
        Misconfigured: The storage failed; what is left goes with the next try.
    """
    ended = (RunState.DONE, RunState.CANCELLED)
    lately = (at - STRAYS_FOR, runs.silent_since(at))
    removed = 0
    for tenant in tenants:
        rows = Run.objects.using(using).filter(tenant=tenant, kind=KIND)
        with acting_for(tenant):
            found = list(rows.filter(state__in=ended, finished_at__range=lately))
        for run in found:
            strays = _strays(run)
            files.delete(*strays)
            removed += len(strays)
    return removed


def _strays(run: Run) -> set[str]:
    named = {part.name for part in Position.of(run).parts}
    named |= {run.cursor.get("manifest", "")} - {""}
    kept = set() if run.cursor.get("deleted") else named
    there = set(files.listed(run.id))
    # A storage that tells other names than it took is none to clean by.
    return there - kept if kept <= there else set()


def _delete(using: str, run: Run, actor: Actor, at: dt.datetime, reason: str) -> None:
    # First nobody works on it any more, so that no file comes after the last.
    _cancel(using, run, at)
    position = Position.of(run)
    names = [part.name for part in position.parts]
    files.delete(*names, position.pending, run.cursor.get("manifest", ""))
    with transaction.atomic(using=using):
        rows = Run.objects.using(using).filter(tenant=run.tenant, id=run.id)
        rows.update(cursor={**run.cursor, "deleted": at.isoformat()})
        note(using, run, actor, "delete", at, {"files": len(names)}, reason)


def _cancel(using: str, run: Run, at: dt.datetime) -> None:
    rows = Run.objects.using(using).filter(tenant=run.tenant, id=run.id)
    going = rows.filter(state__in=(RunState.RUNNING, RunState.FAILED))
    going.update(state=RunState.CANCELLED, finished_at=at, next_try_at=None)
    run.refresh_from_db(using=using)
