"""Open the gate of one record: somebody read it, and it gives no orders."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import StillFlagged
from prism_memory.gate import Verdict, judge
from prism_memory.lifecycle.governed import find_governed, lock_governed
from prism_memory.lifecycle.poison import unblock_derived
from prism_memory.lifecycle.quarantine import refuse_late, set_gate
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.versions import follow_gate
from prism_memory.models import Record
from prism_memory.models.choices import GateState
from prism_memory.types import (
    Actor,
    FactChange,
    ReviewDecision,
    ReviewWhy,
    Scope,
    check_bool,
    record_ref,
)

OPEN = {"gate": GateState.OPEN.value, "gate_reason": "", "gate_markers": []}


@for_tenant
def validate(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
    force: bool = False,
) -> bool:
    """Scan a record of exactly ``scope`` again, and open its gate if nothing matches.

    Returns False where it was open: nothing is changed then. The rules of today are
    asked, not those of the day it was written; the host's classifier is not asked: who
    validates decides over it.

    Args:
        reason: For the audit; no text content.
        force: Open it although rules match. No agent's tool may pass this.

    Raises:
        NotVisible: No such record in this scope (B422).
        StillFlagged: Rules match still; ``markers`` tells where. Nothing is changed.
        Conflict: An import is not done with it.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    check_bool(force, "force")
    seen = find_governed(using=using, scope=scope, record_id=record_id)
    verdict = _verdict(seen)
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        record = lock_governed(using=using, scope=scope, record_id=record_id)
        refuse_late(record)
        if record.gate == GateState.OPEN:
            return False
        if record.version != seen.version:  # somebody wrote meanwhile
            verdict = _verdict(record)
        if verdict.flagged and not force:
            raise StillFlagged(field="id", markers=verdict.as_json())
        set_gate(using=using, record=record, at=at, columns=OPEN)
        unblock_derived(using=using, tenant=scope.tenant, ids=[record_id], at=at)
        follow_gate(
            using=using,
            record=record,
            gate=GateState.OPEN,
            cause=FactChange.VALIDATED,
            actor=actor,
            reason=reason,
        )
        forced = ReviewDecision.FORCED if verdict.flagged else ReviewDecision.VALIDATED
        decide_review(
            using=using,
            tenant=scope.tenant,
            record_id=record_id,
            why=ReviewWhy.QUARANTINED,
            decision=forced,
            actor=actor,
            at=at,
        )
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="memory.validate",
            target=record_ref(record_id),
            at=at,
            reason=reason,
            detail={
                "was": record.gate_reason,
                "forced": verdict.flagged,
                "rules": verdict.rules,
                "version": record.version + 1,
            },
        )
    return True


def _verdict(record: Record) -> Verdict:
    return judge(record.text, record.metadata, classify=False)
