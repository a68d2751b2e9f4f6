"""What retracting and forgetting have in common: a fact leaves search for good."""

from __future__ import annotations

import datetime as dt
from typing import Any

from prism_memory.facts.locking import Locked, change_record
from prism_memory.lifecycle.removal import announce_invalidation
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.lifecycle.tombstones import mark_derived
from prism_memory.lifecycle.versions import end_version, instant
from prism_memory.models import Fact, Record
from prism_memory.types import (
    Actor,
    Closing,
    ReviewDecision,
    TombstoneReason,
    record_ref,
)


def block_derived(
    *, using: str, fact: Fact, reason: TombstoneReason, actor: Actor, at: dt.datetime
) -> int:
    """Block what is derived from a fact, before anything is hidden; return how much.

    Without a limit: who derives from a fact must not keep people from ending it. The
    host is told.
    """
    given: dict[str, Any] = {"using": using, "tenant": fact.tenant, "reason": reason}
    root = record_ref(fact.id)
    marked = mark_derived(**given, roots=[root], actor=actor, at=at)
    announce_invalidation(**given, refs=marked)
    return sum(ref != root for ref in marked)


def close(
    *,
    using: str,
    fact: Fact,
    closing: Closing,
    decision: ReviewDecision,
    actor: Actor,
    at: dt.datetime,
    reason: str,
) -> None:
    """Take a locked fact out of search, and out of what waits for a person."""
    rows = Record.objects.using(using).filter(tenant=fact.tenant, id=fact.id)
    retired = rows.values_list("retired_at", flat=True).get()
    change_record(
        using=using,
        tenant=fact.tenant,
        record_id=fact.id,
        retired_at=retired or at,
        changed_at=at,
    )
    Fact.objects.using(using).filter(tenant=fact.tenant, id=fact.id).update(
        closing=closing,
        closed_at=fact.closed_at or at,
        closing_actor=actor.name,
        closing_reason=reason,
        pending_supersedes=None,
    )
    # There is nothing left to replace.
    Fact.objects.using(using).filter(
        tenant=fact.tenant, pending_supersedes=fact.id
    ).update(pending_supersedes=None)
    decide_review(
        using=using,
        tenant=fact.tenant,
        record_id=fact.id,
        decision=decision,
        actor=actor,
        at=at,
    )


def end(
    *,
    using: str,
    locked: Locked,
    closing: Closing,
    because: TombstoneReason,
    decision: ReviewDecision,
    actor: Actor,
    at: dt.datetime,
    reason: str,
) -> int:
    """End the recorded time of a locked fact for good; return how much it blocked.

    Tombstones come first, then it leaves search.
    """
    fact = locked.fact
    if locked.version is not None:
        moment = instant(using=using, tenant=fact.tenant, fact_ids=[fact.id])
        end_version(locked.version, using=using, at=moment)
    blocked = block_derived(using=using, fact=fact, reason=because, actor=actor, at=at)
    close(
        using=using,
        fact=fact,
        closing=closing,
        decision=decision,
        actor=actor,
        at=at,
        reason=reason,
    )
    return blocked
