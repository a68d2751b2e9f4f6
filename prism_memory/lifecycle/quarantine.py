"""Close the gate of one record: a person found that it must not be used."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any, Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Invalid
from prism_memory.integrity import carried
from prism_memory.lifecycle.governed import lock_governed
from prism_memory.lifecycle.poison import block_derived
from prism_memory.lifecycle.restore import LATE
from prism_memory.lifecycle.reviews import open_reviews
from prism_memory.lifecycle.same_words import same_words
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.versions import follow_gate
from prism_memory.models import Record
from prism_memory.models.choices import GateState
from prism_memory.types import Actor, FactChange, ReviewWhy, Scope, record_ref

OPERATOR: Final = "operator"


@for_tenant
def quarantine(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    at: dt.datetime,
    reason: str,
) -> bool:
    """Hold a record of exactly ``scope`` back until somebody validates it.

    Returns False where an operator had done so: nothing is changed then. Its words,
    consent and vector stay, and other words do not open the gate. Where a document says
    the words of a chunk at other places too, or in another generation, these are held
    back with it.

    Args:
        reason: For the audit, and needed; no text content.

    Raises:
        NotVisible: No such record in this scope.
        Invalid: The reason is blank.
        Conflict: An import is not done with it.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if not reason.strip():
        message = "A quarantine needs a reason."
        raise Invalid(message, field="reason")
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        same = same_words(using=using, tenant=scope.tenant, ids=[record_id])
        others = sorted(same.keys() - {record_id})
        done = _quarantine_one(using, scope, actor, record_id, at, reason)
        for one in others:
            _quarantine_one(using, scope, actor, one, at, reason)
    return done


def _quarantine_one(
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    at: dt.datetime,
    reason: str,
) -> bool:
    given: dict[str, Any] = {"using": using, "tenant": scope.tenant}
    record = lock_governed(using=using, scope=scope, record_id=record_id)
    refuse_late(record)
    if record.gate_reason == OPERATOR:
        return False
    state = {"gate": GateState.QUARANTINED.value, "gate_reason": OPERATOR}
    set_gate(using=using, record=record, at=at, columns=state)
    blocked = block_derived(**given, ids=[record_id], actor=actor, at=at)
    follow_gate(
        using=using,
        record=record,
        gate=GateState.QUARANTINED,
        cause=FactChange.QUARANTINED,
        actor=actor,
        reason=reason,
    )
    why = ReviewWhy.QUARANTINED
    open_reviews(**given, scope_id=scope.id, record_ids=[record_id], why=why, at=at)
    audit.record(
        **given,
        actor=actor,
        action="memory.quarantine",
        target=record_ref(record_id),
        at=at,
        reason=reason,
        detail={"was": record.gate, "version": record.version + 1, "refs": blocked},
    )
    return True


def refuse_late(record: Record) -> None:
    """Refuse to judge what is not there whole.

    Raises:
        Conflict: It waits behind the gate until its lineage is linked.
    """
    if record.gate_reason == LATE:
        message = "The record waits for what it derives from; end the import first."
        raise Conflict(message, field="id")


def set_gate(
    *, using: str, record: Record, at: dt.datetime, columns: dict[str, Any]
) -> None:
    """Write the gate of a locked record, and keep its signature true. One query."""
    rows = Record.objects.using(using).filter(tenant=record.tenant, id=record.id)
    with carried(using=using, tenant=record.tenant, record_ids=[record.id]):
        rows.update(**columns, changed_at=at, version=record.version + 1)
