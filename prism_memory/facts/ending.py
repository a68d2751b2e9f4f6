"""How a fact ends where another begins."""

from __future__ import annotations

import datetime as dt
import uuid

from prism_memory.facts.locking import Locked, change_record
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.lifecycle.versions import change_version
from prism_memory.models import Fact
from prism_memory.types import (
    Acceptance,
    Actor,
    Closing,
    FactChange,
    ReviewDecision,
    ReviewWhy,
)


def may_replace(old: Locked, judged: str) -> bool:
    """Tell whether a fact of an acceptance may replace another (B306)."""
    return not old.is_accepted or judged == Acceptance.ACCEPTED


def close_old(
    *,
    using: str,
    old: Locked,
    new_id: uuid.UUID,
    starts: dt.datetime,
    actor: Actor,
    at: dt.datetime,
    instant: dt.datetime,
    reason: str = "",
) -> None:
    """Let a locked fact end where its successor starts. Inside a transaction."""
    fact, version = old.fact, old.current
    ends = version.valid_to or starts
    change_version(
        version,
        using=using,
        at=instant,
        cause=FactChange.SUPERSEDED,
        actor=actor,
        reason=reason,
        valid_to=ends,
    )
    change_record(using=using, tenant=fact.tenant, record_id=fact.id, valid_to=ends)
    rows = Fact.objects.using(using).filter(tenant=fact.tenant, id=fact.id)
    rows.update(
        superseded_by=new_id,
        pending_supersedes=None,
        closing=Closing.SUPERSEDED,
        closed_at=at,
        closing_actor=actor.name,
        closing_reason=reason,
    )
    # What waited to replace it waits for what did.
    Fact.objects.using(using).filter(
        tenant=fact.tenant, pending_supersedes=fact.id
    ).exclude(id=new_id).update(pending_supersedes=new_id)
    decide_review(  # nobody can accept it any more
        using=using,
        tenant=fact.tenant,
        record_id=fact.id,
        why=ReviewWhy.PROPOSAL,
        decision=ReviewDecision.LAPSED,
        actor=actor,
        at=at,
    )
