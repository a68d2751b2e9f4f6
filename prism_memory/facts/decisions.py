"""What was decided about claims that met others, one row each; no text."""

from __future__ import annotations

import datetime as dt
import uuid

from prism_memory.facts.conflict import Decision
from prism_memory.lifecycle.reviews import open_review
from prism_memory.models import ConflictDecision
from prism_memory.types import Actor, ReviewWhy, Scope, Verdict, uuid7


def note_decision(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    fact_id: uuid.UUID,
    decision: Decision,
    at: dt.datetime,
) -> uuid.UUID:
    """Keep a decision; one that is pending waits for a judge and a person (B341).

    One query, two where it waits. Inside the transaction of what was decided.

    Args:
        fact_id: Of the fact that stands.
    """
    waits = decision.verdict is Verdict.PENDING
    decision_id = uuid7()
    ConflictDecision.objects.using(using).create(
        id=decision_id,
        tenant=scope.tenant,
        scope_id=scope.id,
        fact_id=fact_id,
        others=list(decision.others),
        verdict=decision.verdict,
        stage=decision.stage,
        zone=decision.zone,
        similarity=_cosine(decision.similarity),
        reason=decision.reason,
        actor=actor.name,
        at=at,
        next_try_at=at if waits else None,
    )
    if waits:
        open_review(
            using=using,
            tenant=scope.tenant,
            scope_id=scope.id,
            record_id=fact_id,
            why=ReviewWhy.CONFLICT,
            at=at,
        )
    return decision_id


def _cosine(similarity: float | None) -> float | None:
    """Return a cosine within its bounds: 16 bits a number reach a little over 1."""
    return None if similarity is None else max(-1.0, min(1.0, similarity))
