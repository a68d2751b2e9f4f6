"""Retract a fact: we were wrong. It was held until now, and never again."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.facts.closing import end
from prism_memory.facts.locking import Which, lock_fact
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import (
    Actor,
    Closing,
    ReviewDecision,
    Scope,
    TombstoneReason,
    record_ref,
)


@for_tenant
def retract(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    reason: str = "",
    decision: ReviewDecision = ReviewDecision.REJECTED,
) -> uuid.UUID:
    """End the recorded time of a fact of exactly ``scope``; return its id. For good.

    It is recalled no more, and what is derived from it is blocked; what was held at an
    earlier moment is still answered (B308). Its key is free.

    Args:
        which: Its id or key.
        reason: For the audit and the history; no text content.
        decision: What came of a review that waited for it.

    Raises:
        NotVisible: No such fact in this scope.
        Conflict: It is superseded, retracted or forgotten already.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        locked = lock_fact(using=using, scope=scope, which=which)
        locked.require_open()
        fact = locked.fact
        blocked = end(
            using=using,
            locked=locked,
            closing=Closing.RETRACTED,
            because=TombstoneReason.CORRECTED,
            decision=decision,
            actor=actor,
            at=at,
            reason=reason,
        )
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="fact.retract",
            target=record_ref(fact.id),
            at=at,
            reason=reason,
            detail={"refs": blocked},
        )
    return fact.id
