"""What each decision about something that waits is: which verb, for which reason."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any, Final

from prism_memory import audit, lifecycle
from prism_memory.errors import Conflict, Invalid
from prism_memory.facts.accept import Decided, accept
from prism_memory.facts.forget import forget_fact
from prism_memory.facts.retract import retract
from prism_memory.facts.settle import settle
from prism_memory.facts.validate import validate_fact
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.models import ConflictDecision
from prism_memory.types import (
    Actor,
    ReviewAction,
    ReviewDecision,
    ReviewWhy,
    Scope,
    Verdict,
    record_ref,
)

SETTLED_AS: Final = {
    ReviewAction.ADMIT: Verdict.ADMIT,
    ReviewAction.DEDUP: Verdict.DEDUP,
    ReviewAction.SUPERSEDE: Verdict.SUPERSEDE,
}


def act(  # noqa: PLR0913 - keywords
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    why: ReviewWhy,
    action: ReviewAction,
    is_fact: bool,
    at: dt.datetime,
    force: bool = False,
    reason: str = "",
) -> Decided:
    """Do what a person decided about a record that waits. Inside a transaction.

    Raises:
        Invalid: What waits for that reason is not decided so.
        NotVisible: No such record in exactly this scope.
        Conflict: The verb refuses; see there.
        StillFlagged: Rules of the gate match still.
    """
    given: dict[str, Any] = {
        "using": using,
        "scope": scope,
        "actor": actor,
        "at": at,
        "reason": reason,
    }
    done: Decided | None = None
    if why is ReviewWhy.PROPOSAL:
        done = _propose(given, record_id, action)
    elif why is ReviewWhy.QUARANTINED:
        done = _judge(given, record_id, action, is_fact=is_fact, force=force)
    elif verdict := SETTLED_AS.get(action):
        done = _settle(given, record_id, verdict)
    if done is None:
        message = f"What waits as {why.value} is not decided by {action.value!r}."
        raise Invalid(message, field="decision")
    return done


def _propose(
    given: dict[str, Any], record_id: uuid.UUID, action: ReviewAction
) -> Decided | None:
    if action is ReviewAction.ACCEPT:
        return accept(**given, which=record_id)
    if action is ReviewAction.REJECT:
        return Decided(retract(**given, which=record_id))
    return None


def _judge(
    given: dict[str, Any],
    record_id: uuid.UUID,
    action: ReviewAction,
    *,
    is_fact: bool,
    force: bool,
) -> Decided | None:
    if action is ReviewAction.REJECT:
        return _reject(given, record_id, is_fact=is_fact)
    if action is not ReviewAction.VALIDATE:
        return None
    if is_fact:
        return validate_fact(**given, which=record_id, force=force)
    lifecycle.validate(**given, record_id=record_id, force=force)
    return Decided(record_id)


def _reject(given: dict[str, Any], record_id: uuid.UUID, *, is_fact: bool) -> Decided:
    """Leave a record behind the gate; forget a fact, which nobody may rely on."""
    using, tenant = given["using"], given["scope"].tenant
    decide_review(
        using=using,
        tenant=tenant,
        record_id=record_id,
        why=ReviewWhy.QUARANTINED,
        decision=ReviewDecision.REJECTED,
        actor=given["actor"],
        at=given["at"],
    )
    if is_fact:
        return Decided(forget_fact(**given, which=record_id))
    audit.record(
        using=using,
        tenant=tenant,
        actor=given["actor"],
        action="memory.reject",
        target=record_ref(record_id),
        at=given["at"],
        reason=given["reason"],
    )
    return Decided(record_id)


def _settle(given: dict[str, Any], fact_id: uuid.UUID, verdict: Verdict) -> Decided:
    """Settle the conflict that a claim waits for, about its nearest neighbour.

    Raises:
        Conflict: A judge was quicker; or see ``settle``.
    """
    rows = ConflictDecision.objects.using(given["using"]).filter(
        tenant=given["scope"].tenant,
        fact_id=fact_id,
        verdict=Verdict.PENDING,
        settled_at=None,
    )
    found = rows.order_by("-at", "-id").values_list("id", flat=True).first()
    if found is None:
        message = "The conflict is settled already."
        raise Conflict(message, field="id")
    done = settle(**given, decision_id=found, verdict=verdict)
    replaced = done.verdict is Verdict.SUPERSEDE and not done.linked
    return Decided(fact_id, replaced, done.linked)
