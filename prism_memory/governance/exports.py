"""Exports of whole scopes: begin one, work on it, look at it, open its files."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from typing import Any

from django.core.files import File
from django.db import transaction
from django.utils import timezone

from prism_memory import models, runs
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.governance import export_files as files
from prism_memory.governance.export_run import Exporting, Now
from prism_memory.governance.export_state import KIND, Position, note, target
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.redaction import Redaction
from prism_memory.types import Actor, ExportState, Scope


@for_tenant
def start_export(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    include_unconsented: bool = False,
    compress: bool = False,
    reason: str = "",
    wakes: bool = True,
) -> ExportState:
    """Begin to export all at and below ``scope``, or tell how far it is already.

    One that failed goes on where it was. A worker is told after the commit. Audited.

    Args:
        include_unconsented: Also what no consent was given for: the legal copy.
        compress: Write gzip.
        reason: For the audit; no text content.
        wakes: Tell a worker; False for a caller who works on it by itself.

    Raises:
        NotVisible: Nothing was ever remembered there.
    """
    with transaction.atomic(using=using):
        if not models.Scope.objects.using(using).below(scope).exists():
            raise NotVisible
        # The run names its scope by this row: no names stand in the run.
        ensure_scope(using=using, scope=scope, at=at)
        name = target(scope.id, unconsented=include_unconsented)
        run = _unfinished(using, scope.tenant, name)
        if run is None:
            options = {"include_unconsented": include_unconsented, "compress": compress}
            run = _new(using, scope.tenant, name, actor, options, at)
            note(using, run, actor, "start", at, options, reason)
        elif run.state == RunState.RUNNING and not runs.is_silent(run, at):
            return state_of(run)
        if wakes:
            runs.announce(run, using=using)
    return state_of(run)


def _unfinished(using: str, tenant: str, name: str) -> Run | None:
    rows = Run.objects.using(using).select_for_update()
    same = rows.filter(tenant=tenant, kind=KIND, target=name)
    last = same.order_by("-started_at", "-id").first()
    ended = (RunState.DONE, RunState.CANCELLED)
    return None if last is None or last.state in ended else last


def _new(
    using: str,
    tenant: str,
    name: str,
    actor: Actor,
    options: dict[str, bool],
    at: dt.datetime,
) -> Run:
    run = runs.begin(
        using=using,
        tenant=tenant,
        kind=KIND,
        target=name,
        actor=actor,
        at=at,
        anew=True,
    )
    cursor = {**Position().kept(), "options": options}
    runs.advance(run, using=using, cursor=cursor, counts={}, at=at)
    runs.rest(run, using=using, at=at)
    return run


@for_tenant
def carry_on(
    *,
    using: str,
    tenant: str,
    run_id: uuid.UUID,
    max_seconds: float | None = None,
    redaction: Redaction | None = None,
    now: Now = timezone.now,
) -> bool:
    """Work on an export, until its end or for a while; tell whether it is done.

    Args:
        max_seconds: Begin no further part after that.
        redaction: Of what leaves; the settings' when None.
        now: Tells the time.

    Raises:
        NotVisible: There is no such export, or it has ended.
        Conflict: Another process took it up, or it was cancelled.
        Misconfigured: The storage failed; the run can go on later.
    """
    given: dict[str, Any] = {"using": using, "tenant": tenant, "run_id": run_id}
    run = runs.take_up(**given, kind=KIND, at=now())
    exporting = Exporting(
        using=using, run=run, redaction=redaction or Redaction.configured(), now=now
    )
    end = None if max_seconds is None else time.monotonic() + max_seconds
    done = exporting.work(lambda: end is not None and time.monotonic() >= end)
    if not done:
        runs.rest(run, using=using, at=now())
    return done


@for_tenant
def resume_export(
    *,
    using: str,
    tenant: str,
    run_id: uuid.UUID,
    ticket: str | None = None,
    max_seconds: float | None = None,
) -> str | None:
    """Go on with an export, for a worker.

    Args:
        ticket: Of the message; see ``runs.take_up``.
        max_seconds: Begin no further part after that.

    Returns:
        The ticket to go on with, where the time was over; None where it has ended.

    Raises:
        Conflict: Another process works on it, or it was cancelled meanwhile.
        Misconfigured: The storage failed; the run is tried again later.
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
        exporting = Exporting(
            using=using, run=run, redaction=Redaction.configured(), now=timezone.now
        )
        exporting.expect_scopes()
        if exporting.work(lambda: end is not None and time.monotonic() >= end):
            return None
        return runs.rest(run, using=using, at=timezone.now())


@for_tenant
def export_state(*, using: str, scope: Scope, run_id: uuid.UUID) -> ExportState:
    """Return how far an export of exactly ``scope`` is. One query.

    Raises:
        NotVisible: There is no such export of this scope.
    """
    return state_of(find(using, scope, run_id))


def find(using: str, scope: Scope, run_id: uuid.UUID) -> Run:
    """Return the run of an export of exactly ``scope``. One query.

    Raises:
        NotVisible: There is no such export of this scope.
    """
    names = [target(scope.id, unconsented=wide) for wide in (False, True)]
    rows = Run.objects.using(using).filter(tenant=scope.tenant, kind=KIND, id=run_id)
    run = rows.filter(target__in=names).first()
    if run is None:
        raise NotVisible
    return run


def state_of(run: Run) -> ExportState:
    """Return how far a run is."""
    counts = dict(run.counts)
    records = counts.pop("records", 0)
    left_out = {n: c for n, c in counts.items() if n not in {"parts", "scopes"}}
    done = run.state == RunState.DONE
    deleted = bool(run.cursor.get("deleted"))
    return ExportState(
        id=run.id,
        state=run.state,
        **run.cursor["options"],
        records=records,
        left_out=left_out,
        parts=Position.of(run).parts if done and not deleted else (),
        started_at=run.started_at,
        finished_at=run.finished_at,
        deleted=deleted,
        error=run.error,
    )


@for_tenant
def open_export(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    run_id: uuid.UUID,
    number: int | None,
    at: dt.datetime,
) -> tuple[str, File[Any]]:
    """Return name and content of one file of an export that is done. Audited.

    Args:
        number: Of the part, from 1; None is the manifest.

    Raises:
        NotVisible: There is no such export of this scope, no such part, or it is not
            there yet or any more.
        Misconfigured: The storage failed.
    """
    run = find(using, scope, run_id)
    name = _name(run, number)
    file = files.open_file(name)
    note(using, run, actor, "read", at, {"part": number or 0})
    return "manifest.json" if number is None else name.rpartition("/")[2], file


def _name(run: Run, number: int | None) -> str:
    parts = state_of(run).parts
    if run.state != RunState.DONE or run.cursor.get("deleted"):
        raise NotVisible
    if number is None:
        return str(run.cursor["manifest"])
    if not 1 <= number <= len(parts):
        raise NotVisible
    return parts[number - 1].name
