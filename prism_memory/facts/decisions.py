"""What was decided about claims that met others, one row each; no text."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Final

from prism_memory.errors import Conflict, Invalid, NotVisible
from prism_memory.facts.conflict import Decision
from prism_memory.lifecycle.reviews import open_review
from prism_memory.models import ConflictDecision
from prism_memory.types import Actor, ReviewWhy, Scope, Verdict, uuid7

ABOUT_ONE: Final = (Verdict.DEDUP, Verdict.SUPERSEDE)


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


def find_pending(
    *, using: str, scope: Scope, decision_id: uuid.UUID
) -> ConflictDecision:
    """Return a conflict of exactly ``scope`` that waits, or did. One query.

    Raises:
        NotVisible: No such conflict in this scope.
    """
    rows = ConflictDecision.objects.using(using).filter(
        tenant=scope.tenant,
        id=decision_id,
        scope_id=scope.id,
        # The names decide, not the hash.
        scope__owner=scope.owner,
        scope__agent=scope.agent,
        scope__thread=scope.thread,
        verdict=Verdict.PENDING,
    )
    found = rows.first()
    if found is None:
        raise NotVisible
    return found


def lock_pending(*, using: str, tenant: str, decision_id: uuid.UUID) -> None:
    """Lock a conflict that waits, after the facts that it is about. One query.

    Raises:
        NotVisible: It is gone.
        Conflict: It is settled already.
    """
    rows = ConflictDecision.objects.using(using).select_for_update()
    found = rows.filter(tenant=tenant, id=decision_id).first()
    if found is None:
        raise NotVisible
    if found.settled_at is not None:
        message = "The conflict is settled already."
        raise Conflict(message, field="id")


def neighbour_of(
    decision: ConflictDecision, verdict: Verdict, other: uuid.UUID | None
) -> uuid.UUID | None:
    """Return the neighbour that a verdict is about; None where it is about none.

    Args:
        other: The one that was named; the nearest when None.

    Raises:
        Invalid: It is none of those that the claim was compared with (B433).
    """
    if other is not None and other not in decision.others:
        message = "other is none of the facts that the claim was compared with."
        raise Invalid(message, field="other")
    if verdict not in ABOUT_ONE:
        return None
    return other or next(iter(decision.others), None)
