"""Receipts of erasures: written in the last transaction, found by who knows the id."""

from __future__ import annotations

import datetime as dt
from typing import Any

from prism_memory import audit, runs
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.governance.erasure.position import State
from prism_memory.governance.erasure.target import Target
from prism_memory.indexing import count_gone
from prism_memory.models import ErasureReceipt, Fact, Run
from prism_memory.models.choices import RunState
from prism_memory.types import Actor, Erased, ErasureLevel

COUNTED = ("records", "facts", "sources", "scopes")
KEPT = (*COUNTED, "derived", "spared")


def conclude(
    *,
    using: str,
    target: Target,
    run: Run,
    actor: Actor,
    state: State,
    at: dt.datetime,
) -> Erased:
    """Write the receipt, and end the run: in the transaction that removes the last.

    Of the facts that once stood on other evidence, those that still do are counted; and
    the vectors of the tenant that external indexes are still to delete, if any.
    """
    facts = Fact.objects.using(using).filter(tenant=target.tenant)
    spared = facts.filter(id__in=state.spared).count()
    kept = {"derived": state.derived, "spared": spared}
    if copies := count_gone(using=using, tenant=target.tenant):
        kept["copies"] = copies
    receipt = ErasureReceipt.objects.using(using).create(
        tenant=target.tenant,
        level=target.level.value,
        target_ref=target.ref,
        found=True,
        counts={table: count for table, count in state.rows.items() if count},
        kinds={kind: count for kind, count in state.kinds.items() if count},
        kept=count_kept(using=using, target=target) | kept,
        run_id=run.id,
        scope_ids=run.cursor["scope_ids"],
        actor=actor.name,
        at=run.started_at,
        finished_at=at,
    )
    runs.finish(run, using=using, state=RunState.DONE, at=at)
    _record(using, receipt, actor, at)
    return erased(receipt)


def nothing_found(
    *, using: str, target: Target, actor: Actor, at: dt.datetime, reason: str
) -> Erased:
    """Write down that there was nothing to erase (B323). Nothing else changes."""
    receipt = ErasureReceipt.objects.using(using).create(
        tenant=target.tenant,
        level=target.level.value,
        target_ref=target.ref,
        found=False,
        counts={},
        kept=dict.fromkeys(KEPT, 0),
        scope_ids=target.scope_ids,
        actor=actor.name,
        at=at,
        finished_at=at,
    )
    _record(using, receipt, actor, at, reason)
    return erased(receipt)


def count_kept(*, using: str, target: Target) -> dict[str, int]:
    """Return what there is of the target; at the end, what holds keep. One query."""
    parts = {"within": target.within} if target.is_scope else {}
    statement = composed("erasure", f"kept_of_{target.family}", **parts)
    (row,) = queries.fetch(using, statement, target.parameters())
    return {name: int(row[name]) for name in COUNTED}


def erased(row: ErasureReceipt) -> Erased:
    """Return a receipt as callers see it."""
    return Erased(
        id=row.id,
        level=ErasureLevel(row.level),
        target_ref=row.target_ref,
        found=row.found,
        at=row.at,
        finished_at=row.finished_at,
        counts=row.counts,
        kinds=row.kinds,
        kept=row.kept,
    )


def _record(
    using: str,
    row: ErasureReceipt,
    actor: Actor,
    at: dt.datetime,
    reason: str = "",
) -> None:
    told: dict[str, Any] = {"level": row.level, "found": row.found, "kept": row.kept}
    audit.record(
        using=using,
        tenant=row.tenant,
        actor=actor,
        action="memory.erase",
        target=row.target_ref,
        at=at,
        reason=reason,
        detail={"receipt": str(row.id), "rows": row.counts, **told},
    )
