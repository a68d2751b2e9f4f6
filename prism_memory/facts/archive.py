"""Put a fact aside, and take it back: it is not recalled meanwhile."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.facts.locking import Locked, Which, change_record, lock_fact
from prism_memory.lifecycle.reviews import lapse_reviews, open_review
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import ConflictDecision, Fact
from prism_memory.models.choices import GateState
from prism_memory.types import (
    Acceptance,
    Actor,
    ReviewWhy,
    Scope,
    Verdict,
    record_ref,
)


@for_tenant
def archive(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    reason: str = "",
) -> uuid.UUID:
    """Put a fact of exactly ``scope`` aside; return its id. Nothing is deleted.

    What waited for a person waits no more, until it is taken back.

    Raises:
        NotVisible: No such fact in this scope.
        Conflict: It is archived, retracted or forgotten already, or held.
    """
    with transaction.atomic(using=using):
        # Who holds it, or lets another replace it, has the lineage to itself.
        hold_lineage(using=using, tenant=scope.tenant)
        locked = lock_fact(using=using, scope=scope, which=which)
        _require_here(locked)
        if locked.held:
            message = "A legal hold keeps the fact."
            raise Conflict(message, field="id")
        _set(using, locked, at, archived_at=at)
        lapse_reviews(
            using=using,
            tenant=scope.tenant,
            record_ids=[locked.fact.id],
            actor=actor,
            at=at,
        )
        _record(using, actor, locked, "fact.archive", at, reason)
    return locked.fact.id


@for_tenant
def unarchive(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    reason: str = "",
) -> uuid.UUID:
    """Take a fact of exactly ``scope`` back; return its id.

    Raises:
        NotVisible: No such fact in this scope.
        Conflict: It is not archived, or was retracted or forgotten meanwhile.
    """
    with transaction.atomic(using=using):
        # Who holds it, or lets another replace it, has the lineage to itself.
        hold_lineage(using=using, tenant=scope.tenant)
        locked = lock_fact(using=using, scope=scope, which=which)
        locked.require_held()
        if locked.fact.archived_at is None:
            message = "The fact is not archived."
            raise Conflict(message, field="id")
        _set(using, locked, at, archived_at=None)
        _wait_again(using, scope, locked, at)
        _record(using, actor, locked, "fact.unarchive", at, reason)
    return locked.fact.id


def _wait_again(using: str, scope: Scope, locked: Locked, at: dt.datetime) -> None:
    """Let a person look at what is undecided still."""
    fact = locked.fact
    pending = ConflictDecision.objects.using(using).filter(
        tenant=scope.tenant,
        fact_id=fact.id,
        verdict=Verdict.PENDING,
        settled_at=None,
    )
    undecided = not fact.closing
    proposal = undecided and locked.current.acceptance == Acceptance.PROPOSAL
    reasons = {
        ReviewWhy.PROPOSAL: proposal,
        ReviewWhy.QUARANTINED: locked.current.gate != GateState.OPEN,
        ReviewWhy.CONFLICT: undecided and pending.exists(),
    }
    for why in (why for why, waits in reasons.items() if waits):
        open_review(
            using=using,
            tenant=scope.tenant,
            scope_id=scope.id,
            record_id=fact.id,
            why=why,
            at=at,
        )


def _require_here(locked: Locked) -> None:
    locked.require_held()
    if locked.fact.archived_at is not None:
        message = "The fact is archived already."
        raise Conflict(message, field="id")


def _set(
    using: str, locked: Locked, at: dt.datetime, archived_at: dt.datetime | None
) -> None:
    fact = locked.fact
    change_record(
        using=using,
        tenant=fact.tenant,
        record_id=fact.id,
        retired_at=archived_at,
        changed_at=at,
    )
    rows = Fact.objects.using(using).filter(tenant=fact.tenant, id=fact.id)
    rows.update(archived_at=archived_at)


def _record(
    using: str,
    actor: Actor,
    locked: Locked,
    action: str,
    at: dt.datetime,
    reason: str,
) -> None:
    audit.record(
        using=using,
        tenant=locked.fact.tenant,
        actor=actor,
        action=action,
        target=record_ref(locked.fact.id),
        at=at,
        reason=reason,
    )
