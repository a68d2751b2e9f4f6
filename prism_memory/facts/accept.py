"""Accept a proposal: code or a person decided that it may be relied on."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.facts.locking import Locked, Which, lock_fact
from prism_memory.facts.pending import complete, moment
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.versions import change_version
from prism_memory.types import (
    Acceptance,
    Actor,
    FactChange,
    ReviewDecision,
    ReviewWhy,
    Scope,
    check_bool,
    record_ref,
)


@dataclass(frozen=True)
class Decided:
    """What a decision about a fact did.

    Args:
        replaced: It took the place of the fact that it waited for.
        waiting: It still waits for one: it may not replace it.
    """

    id: uuid.UUID
    replaced: bool = False
    waiting: bool = False


@for_tenant
def accept(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    from_belief: bool = False,
    reason: str = "",
) -> Decided:
    """Turn a proposal of exactly ``scope`` into an accepted fact (B309).

    One that waits to replace another does so now, if its gate is open.

    Args:
        which: Its id or key.
        from_belief: Accept a belief too (B310).
        reason: For the audit and the history; no text content.

    Raises:
        NotVisible: No such fact in this scope.
        Conflict: It is accepted already, a belief, or open no more (B310).
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    check_bool(from_belief, "from_belief")
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        locked = lock_fact(using=using, scope=scope, which=which)
        locked.require_open()
        _require_undecided(locked, from_belief=from_belief)
        fact = locked.fact
        now = moment(using=using, tenant=scope.tenant, new=locked)
        version = change_version(
            locked.current,
            using=using,
            at=now,
            cause=FactChange.ACCEPTED,
            actor=actor,
            reason=reason,
            acceptance=Acceptance.ACCEPTED,
        )
        decide_review(
            using=using,
            tenant=scope.tenant,
            record_id=fact.id,
            why=ReviewWhy.PROPOSAL,
            decision=ReviewDecision.ACCEPTED,
            actor=actor,
            at=at,
        )
        replaced = complete(
            using=using,
            scope=scope,
            actor=actor,
            new=locked,
            version=version,
            at=at,
            instant=now,
            reason=reason,
        )
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="fact.accept",
            target=record_ref(fact.id),
            at=at,
            reason=reason,
            detail={"was": locked.current.acceptance, "replaced": replaced},
        )
    waiting = fact.pending_supersedes is not None and not replaced
    return Decided(fact.id, replaced, waiting)


def _require_undecided(locked: Locked, *, from_belief: bool) -> None:
    locked.require_here()
    if locked.is_accepted:
        message = "The fact is accepted already."
        raise Conflict(message, field="id")
    if locked.current.acceptance == Acceptance.BELIEF and not from_belief:
        message = "A belief is only accepted with from_belief."
        raise Conflict(message, field="from_belief")
