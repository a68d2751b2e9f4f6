"""Retract a fact: we were wrong. It was held until now, and never again."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.facts.closing import block_derived, close
from prism_memory.facts.locking import Which, lock_fact
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.versions import end_version, instant
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
        moment = instant(using=using, tenant=scope.tenant, fact_ids=[fact.id])
        end_version(locked.current, using=using, at=moment)
        blocked = block_derived(
            using=using,
            fact=fact,
            reason=TombstoneReason.CORRECTED,
            actor=actor,
            at=at,
        )
        close(
            using=using,
            fact=fact,
            closing=Closing.RETRACTED,
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
