"""Texts that were given up: seen, and tried again (C33)."""

from __future__ import annotations

import datetime as dt
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Q

from prism_memory import audit, indexing, signals
from prism_memory.db.tenancy import for_tenant
from prism_memory.governance.running.listing import moment_and_id, require_tenant
from prism_memory.models import Embedding
from prism_memory.recall import cursors
from prism_memory.types import Actor, FailedPage, FailedText, Scope

ORDER: Final = "failed"
COLUMNS: Final = ("record_id", "attempts", "failed_at", "error")


@for_tenant
def list_failed(
    *, using: str, scope: Scope, alias: str, rows: int, cursor: str | None = None
) -> FailedPage:
    """Return the tenant's texts that were given up, the latest first. Two queries.

    Args:
        alias: Of the embedder.
        rows: Of the page.

    Raises:
        ScopeDenied: The scope is below the tenant.
        Invalid: The cursor is none of this list.
    """
    require_tenant(scope)
    spaces = [one.id for one in indexing.find_live(using=using, alias=alias)]
    found = Embedding.objects.using(using).filter(
        tenant=scope.tenant,
        space_id__in=spaces,
        vector__isnull=True,
        failed_at__isnull=False,
    )
    if cursor is not None:
        at, record_id = moment_and_id(cursors.read(cursor, ORDER))
        found = found.filter(
            Q(failed_at__lt=at) | Q(failed_at=at, record_id__gt=record_id)
        )
    ordered = found.order_by("-failed_at", "record_id").values(*COLUMNS)
    page = [FailedText(**row) for row in ordered[: rows + 1]]
    items = tuple(page[:rows])
    if len(page) <= rows:
        return FailedPage(items)
    last = items[-1]
    place = cursors.write(ORDER, last.failed_at.isoformat(), str(last.record_id))
    return FailedPage(items, place)


@for_tenant
def retry_failed(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    alias: str,
    at: dt.datetime,
    reason: str = "",
) -> int:
    """Give the tenant's texts that were given up all their tries again.

    Returns how many. A worker is told after the commit. Audited.

    Args:
        alias: Of the embedder.
        reason: For the audit; no text content.

    Raises:
        ScopeDenied: The scope is below the tenant.
    """
    require_tenant(scope)
    count = 0
    with transaction.atomic(using=using):
        for space in indexing.find_live(using=using, alias=alias):
            texts = indexing.retry_failed(using=using, tenant=scope.tenant, space=space)
            count += texts
            audit.record(
                using=using,
                tenant=scope.tenant,
                actor=actor,
                action="index.retry",
                target=f"space:{space.id}",
                at=at,
                reason=reason,
                detail={"texts": texts},
            )
        wake = partial(
            signals.indexing_wanted.send_robust,
            sender=indexing.Space,
            tenant=scope.tenant,
            using=using,
            alias=alias,
        )
        transaction.on_commit(wake, using=using, robust=True)
    return count
