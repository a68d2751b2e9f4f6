"""Keep what was recalled, and let it go after its time. Never part of a read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Final

from django.db import transaction

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import acting_for
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import ErasureReceipt, RecallTrace, Tenant
from prism_memory.types import Trace

PRUNED_AT_ONCE: Final = 1_000


def write_trace(*, using: str, trace: Trace) -> bool:
    """Keep a trace; again changes nothing. Four queries.

    Returns:
        False if nothing was ever remembered under its tenant: there was nothing to
        recall, and a name that was mistyped must leave no row. Or if its scope was
        erased since: a message that comes late must not bring the names back (B500).
    """
    scope = trace.scope
    if not Tenant.objects.using(using).filter(name=scope.tenant).exists():
        return False
    with acting_for(scope.tenant), transaction.atomic(using=using):
        # Whoever erases has this lock alone: it removes the trace, or is seen here.
        hold_lineage(using=using, tenant=scope.tenant)
        erased = ErasureReceipt.objects.using(using).filter(
            tenant=scope.tenant,
            target_ref__in=[f"scope:{place.id}" for place in scope.chain()],
            finished_at__gte=trace.at,
        )
        if erased.exists():
            return False
        _write(using, trace)
    return True


def _write(using: str, trace: Trace) -> None:
    scope = trace.scope
    row = RecallTrace(
        id=trace.id,
        tenant=scope.tenant,
        scope_id=scope.id,
        owner=scope.owner,
        agent=scope.agent,
        thread=scope.thread,
        query_sha256=trace.query_sha256,
        actor=trace.actor,
        mode=trace.mode,
        strategy=trace.strategy,
        degraded=trace.degraded,
        options=trace.options,
        hits=list(trace.hits),
        timings_ms=dict(trace.timings_ms),
        at=trace.at,
    )
    RecallTrace.objects.using(using).bulk_create([row], ignore_conflicts=True)


def prune_traces(
    *,
    using: str,
    tenants: Iterable[str],
    at: dt.datetime,
    days: int,
    batch: int = PRUNED_AT_ONCE,
) -> int:
    """Remove traces older than so many days; return how many.

    Tenant by tenant, in statements of ``batch`` rows that each commit by themselves.

    Args:
        at: Now.
        days: How long a trace is kept, from 1.
    """
    before = at - dt.timedelta(days=days)
    return sum(_prune(using, tenant, before, batch) for tenant in tenants)


def _prune(using: str, tenant: str, before: dt.datetime, batch: int) -> int:
    given = {"tenant": tenant, "before": before, "rows": batch}
    removed = 0
    while count := queries.execute(using, named("traces")["prune_traces"], given):
        removed += count
    return removed
