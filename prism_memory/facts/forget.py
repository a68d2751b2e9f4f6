"""Forget a fact softly: no reader gets its words again; that it was stays known."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.facts.closing import end
from prism_memory.facts.locking import Locked, Which, lock_fact
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
def forget_fact(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    reason: str = "",
) -> uuid.UUID:
    """Hide a fact of exactly ``scope`` for good, whatever its state; return its id.

    Its history shows that it was, when, and why it went (B416). ``purge`` deletes it.

    Args:
        which: Its id or key.
        reason: For the audit and the history; no text content.

    Raises:
        NotVisible: No such fact in this scope.
        Conflict: It is forgotten already, or held.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        locked = lock_fact(using=using, scope=scope, which=which)
        fact = locked.fact
        _require_free(locked)
        blocked = end(
            using=using,
            locked=locked,
            closing=Closing.FORGOTTEN,
            because=TombstoneReason.FORGOTTEN,
            decision=ReviewDecision.LAPSED,
            actor=actor,
            at=at,
            reason=reason,
        )
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="fact.forget",
            target=record_ref(fact.id),
            at=at,
            reason=reason,
            detail={"refs": blocked},
        )
    return fact.id


def _require_free(locked: Locked) -> None:
    if locked.fact.closing == Closing.FORGOTTEN:
        message = "The fact was forgotten already."
        raise Conflict(message, field="id")
    if locked.held:
        message = "A legal hold keeps the fact."
        raise Conflict(message, field="id")
