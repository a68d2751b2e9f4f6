"""How far erasures are, and their receipts: read by who may see their scope."""

from __future__ import annotations

import uuid
from typing import Final

from django.db import models

from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.governance.erasure.receipts import erased
from prism_memory.models import ErasureReceipt, Run
from prism_memory.models.choices import RunState
from prism_memory.recall import cursors
from prism_memory.types import Erased, ErasedPage, Erasing, ErasureLevel, Scope

KIND: Final = "erase"
ORDER: Final = "erasures"


@for_tenant
def read_erasure(*, using: str, scope: Scope, erasure_id: uuid.UUID) -> Erasing:
    """Return how far an erasure of ``scope``, or of something below it, is.

    Args:
        erasure_id: Of its run, or of the receipt of one that had nothing to do.

    Raises:
        NotVisible: None of that id here.
    """
    runs = Run.objects.using(using).filter(tenant=scope.tenant, kind=KIND)
    run = runs.filter(id=erasure_id).first()
    if run is not None and str(scope.id) in run.cursor.get("scope_ids", ()):
        return erasing(using=using, run=run)
    rows = _receipts(using, scope).filter(id=erasure_id)
    receipt = rows.first()
    if receipt is None:
        raise NotVisible
    return at_once(erased(receipt))


@for_tenant
def list_erasures(
    *, using: str, scope: Scope, rows: int, cursor: str | None = None
) -> ErasedPage:
    """Return receipts of ``scope`` and of all below it, the newest first. One query.

    Raises:
        Invalid: The cursor is none of this list.
    """
    found = _receipts(using, scope).order_by("-id")
    if cursor is not None:
        (last,) = cursors.read(cursor, ORDER, values=1)
        found = found.filter(id__lt=_id(last))
    page = list(found[: rows + 1])
    more = len(page) > rows
    shown = tuple(map(erased, page[:rows]))
    place = cursors.write(ORDER, str(shown[-1].id)) if more else None
    return ErasedPage(shown, place)


def erasing(*, using: str, run: Run) -> Erasing:
    """Return how far a run is. One query."""
    rows = ErasureReceipt.objects.using(using).filter(tenant=run.tenant, run_id=run.id)
    receipt = rows.first()
    return Erasing(
        id=run.id,
        level=ErasureLevel(run.cursor["level"]),
        target_ref=run.target,
        state=str(run.state),
        counts=run.counts,
        started_at=run.started_at,
        finished_at=run.finished_at,
        error=run.error,
        receipt=None if receipt is None else erased(receipt),
    )


def at_once(done: Erased) -> Erasing:
    """Return an erasure that needed no run as one that is done."""
    return Erasing(
        id=done.id,
        level=done.level,
        target_ref=done.target_ref,
        state=RunState.DONE.value,
        counts=done.counts,
        started_at=done.at,
        finished_at=done.finished_at,
        receipt=done,
    )


def _receipts(using: str, scope: Scope) -> models.QuerySet[ErasureReceipt]:
    rows = ErasureReceipt.objects.using(using).filter(tenant=scope.tenant)
    return rows.filter(scope_ids__contains=[scope.id])


def _id(text: object) -> uuid.UUID:
    try:
        return uuid.UUID(str(text))
    except ValueError:
        raise cursors.unknown() from None
