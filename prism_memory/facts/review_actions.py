"""What each decision about something that waits is: which verb, for which reason."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from prism_memory import audit, lifecycle
from prism_memory.errors import Invalid
from prism_memory.facts.accept import Decided, accept
from prism_memory.facts.forget import forget_fact
from prism_memory.facts.retract import retract
from prism_memory.facts.validate import validate_fact
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.types import (
    Actor,
    ReviewAction,
    ReviewDecision,
    ReviewWhy,
    Scope,
    record_ref,
)


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
    if (why, action) == (ReviewWhy.PROPOSAL, ReviewAction.ACCEPT):
        return accept(**given, which=record_id)
    if (why, action) == (ReviewWhy.PROPOSAL, ReviewAction.REJECT):
        return Decided(retract(**given, which=record_id))
    if (why, action) == (ReviewWhy.QUARANTINED, ReviewAction.VALIDATE):
        if is_fact:
            return validate_fact(**given, which=record_id, force=force)
        lifecycle.validate(**given, record_id=record_id, force=force)
        return Decided(record_id)
    if (why, action) == (ReviewWhy.QUARANTINED, ReviewAction.REJECT):
        return _reject(given, record_id, is_fact=is_fact)
    message = f"What waits as {why.value} is not decided by {action.value!r}."
    raise Invalid(message, field="decision")


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
