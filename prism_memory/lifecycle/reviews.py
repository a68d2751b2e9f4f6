"""What waits for a person: opened and decided in the transaction of the change."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db.models import Q

from prism_memory.models import Review
from prism_memory.types import Actor, ReviewDecision, ReviewWhy


def open_review(
    *,
    using: str,
    tenant: str,
    scope_id: uuid.UUID,
    record_id: uuid.UUID,
    why: ReviewWhy,
    at: dt.datetime,
) -> None:
    """Let a record wait for a person, unless it does for the same reason. One query."""
    Review.objects.using(using).bulk_create(
        [
            Review(
                tenant=tenant,
                scope_id=scope_id,
                record_id=record_id,
                why=why,
                opened_at=at,
            )
        ],
        ignore_conflicts=True,
    )


def decide_review(
    *,
    using: str,
    tenant: str,
    record_id: uuid.UUID,
    decision: ReviewDecision,
    actor: Actor,
    at: dt.datetime,
    why: ReviewWhy | None = None,
) -> bool:
    """Note what came of a review; tell whether one waited. One query.

    Args:
        why: Of this reason alone; of any when None.
    """
    reasons = Q() if why is None else Q(why=why)
    waiting = Review.objects.using(using).filter(
        reasons, tenant=tenant, record_id=record_id, decided_at=None
    )
    return bool(waiting.update(decided_at=at, decision=decision, actor=actor.name))
