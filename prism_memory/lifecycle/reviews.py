"""What waits for a person: opened and decided in the transaction of the change."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection

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
    """Let one record wait for a person, as ``open_reviews`` lets several."""
    open_reviews(
        using=using,
        tenant=tenant,
        scope_id=scope_id,
        record_ids=[record_id],
        why=why,
        at=at,
    )


def open_reviews(
    *,
    using: str,
    tenant: str,
    scope_id: uuid.UUID,
    record_ids: Collection[uuid.UUID],
    why: ReviewWhy,
    at: dt.datetime,
) -> None:
    """Let records wait for a person, unless they do for the same reason. One query."""
    waiting = [
        Review(
            tenant=tenant,
            scope_id=scope_id,
            record_id=record_id,
            why=why,
            opened_at=at,
        )
        for record_id in record_ids
    ]
    Review.objects.using(using).bulk_create(waiting, ignore_conflicts=True)


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


def lapse_reviews(
    *,
    using: str,
    tenant: str,
    record_ids: Collection[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
    why: ReviewWhy | None = None,
) -> None:
    """Let records wait no more: their words are others, or they are put aside.

    One query. Whoever decides by an id of a review decides about the words that they
    read.

    Args:
        why: For this reason alone; for any when None.
    """
    reasons = Q() if why is None else Q(why=why)
    waiting = Review.objects.using(using).filter(
        reasons, tenant=tenant, record_id__in=record_ids, decided_at=None
    )
    waiting.update(decided_at=at, decision=ReviewDecision.LAPSED, actor=actor.name)
