"""Settle a conflict that waits: a person or a judge says what becomes of the claim."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Invalid, NotVisible
from prism_memory.facts.conflict.values import RANK
from prism_memory.facts.decisions import find_pending, lock_pending, neighbour_of
from prism_memory.facts.forget import forget_fact
from prism_memory.facts.locking import Locked, lock_fact
from prism_memory.facts.pending import complete, moment
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import ConflictDecision, Fact, Record
from prism_memory.models.choices import GateState
from prism_memory.types import (
    Acceptance,
    Actor,
    ReviewDecision,
    ReviewWhy,
    Scope,
    Settled,
    Verdict,
    record_ref,
)


class Changed(Exception):
    """The claims were changed since they were judged."""


@dataclass(frozen=True)
class Settling:
    """What is the same in all steps of one settlement."""

    using: str
    scope: Scope
    actor: Actor
    at: dt.datetime
    reason: str


@for_tenant
def settle(  # noqa: PLR0913 - keywords
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    decision_id: uuid.UUID,
    verdict: Verdict,
    at: dt.datetime,
    other: uuid.UUID | None = None,
    versions: Mapping[uuid.UUID, int] | None = None,
    reason: str = "",
) -> Settled:
    """Settle a pending conflict of exactly ``scope``.

    ``admit`` lets both stand. ``dedup`` forgets the new claim softly (B432); if it is
    better vouched for than the old one, it replaces that instead. ``supersede`` ends
    the old one where the new one starts; a new one that the gate holds back, or that
    may not replace it yet, is linked and waits. Where one of the two is open no more,
    the conflict is settled as ``admit``, whatever was said.

    Args:
        other: Which neighbour it is about; the nearest when None.
        versions: Of the records that were judged, by fact; others are refused.
        reason: For the audit; no text content.

    Raises:
        NotVisible: No such conflict in this scope.
        Invalid: The verdict is pending, or ``other`` is none of its neighbours (B433).
        Conflict: It is settled already; a hold keeps the claim; it waits for another;
            or it began no later than what it would end.
        Changed: See ``versions``.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if verdict is Verdict.PENDING:
        message = "A conflict is settled as admit, dedup or supersede."
        raise Invalid(message, field="verdict")
    settling = Settling(using, scope, actor, at, reason)
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        decision = find_pending(using=using, scope=scope, decision_id=decision_id)
        about = neighbour_of(decision, verdict, other)
        new = _lock_open(settling, decision.fact_id)
        old = _lock_open(settling, about) if about and new else None
        lock_pending(using=using, tenant=scope.tenant, decision_id=decision_id)
        _require_versions(settling, versions, new, old)
        if about and old is None:
            verdict, about = Verdict.ADMIT, None
        _decide_review(settling, decision)
        verdict, linked = _done(settling, verdict, new, old)
        _close(settling, decision, verdict, about, linked=linked)
    return Settled(verdict, decision.fact_id, about, linked)


def _lock_open(settling: Settling, fact_id: uuid.UUID) -> Locked | None:
    """Return a fact, locked; None where it is open no more, or gone."""
    using, scope = settling.using, settling.scope
    try:
        locked = lock_fact(using=using, scope=scope, which=fact_id)
    except NotVisible:
        return None
    fact = locked.fact
    is_open = not fact.closing and fact.archived_at is None
    return locked if is_open and locked.version is not None else None


def _require_versions(
    settling: Settling,
    versions: Mapping[uuid.UUID, int] | None,
    *locked: Locked | None,
) -> None:
    if versions is None:
        return
    ids = [one.fact.id for one in locked if one is not None]
    rows = Record.objects.using(settling.using).filter(
        tenant=settling.scope.tenant, id__in=ids
    )
    for fact_id, version in rows.values_list("id", "version"):
        if versions.get(fact_id) != version:
            raise Changed


def _decide_review(settling: Settling, decision: ConflictDecision) -> None:
    decide_review(
        using=settling.using,
        tenant=settling.scope.tenant,
        record_id=decision.fact_id,
        why=ReviewWhy.CONFLICT,
        decision=ReviewDecision.SETTLED,
        actor=settling.actor,
        at=settling.at,
    )


def _done(
    settling: Settling, verdict: Verdict, new: Locked | None, old: Locked | None
) -> tuple[Verdict, bool]:
    """Do what a verdict says; return what it came to, and whether it waits."""
    if new is None or old is None:
        return Verdict.ADMIT, False
    if verdict is Verdict.DEDUP and _stands(old, new):
        forget_fact(
            using=settling.using,
            scope=settling.scope,
            actor=settling.actor,
            which=new.fact.id,
            at=settling.at,
            reason=settling.reason,
        )
        return verdict, False
    return Verdict.SUPERSEDE, not _replaced(settling, new, old)


def _stands(old: Locked, new: Locked) -> bool:
    """Tell whether the old one is as good as the new one that repeats it."""
    if new.current.gate != GateState.OPEN:
        return True
    ranks = [RANK[Acceptance(one.current.acceptance)] for one in (old, new)]
    return old.current.gate == GateState.OPEN and ranks[0] >= ranks[1]


def _replaced(settling: Settling, new: Locked, old: Locked) -> bool:
    """Let the new one replace the old one, now or once it may; tell which."""
    using, scope = settling.using, settling.scope
    if new.fact.pending_supersedes not in (None, old.fact.id) or new.fact.supersedes:
        message = "The claim replaces another fact."
        raise Conflict(message, field="id")
    if new.current.valid_from <= old.current.valid_from:
        message = "The claim began no later than what it would end."
        raise Conflict(message, field="verdict")
    rows = Fact.objects.using(using).filter(tenant=scope.tenant, id=new.fact.id)
    rows.update(pending_supersedes=old.fact.id)
    linked = lock_fact(using=using, scope=scope, which=new.fact.id)
    return complete(
        using=using,
        scope=scope,
        actor=settling.actor,
        new=linked,
        version=linked.current,
        at=settling.at,
        instant=moment(using=using, tenant=scope.tenant, new=linked),
        reason=settling.reason,
    )


def _close(
    settling: Settling,
    decision: ConflictDecision,
    verdict: Verdict,
    about: uuid.UUID | None,
    *,
    linked: bool,
) -> None:
    tenant, actor = settling.scope.tenant, settling.actor
    rows = ConflictDecision.objects.using(settling.using).filter(
        tenant=tenant, id=decision.id
    )
    rows.update(
        settled_at=settling.at,
        settled_by=actor.name,
        settled_as=verdict,
        next_try_at=None,
    )
    audit.record(
        using=settling.using,
        tenant=tenant,
        actor=actor,
        action="conflict.settle",
        target=record_ref(decision.fact_id),
        at=settling.at,
        reason=settling.reason,
        detail={
            "decision": str(decision.id),
            "verdict": verdict,
            "other": None if about is None else str(about),
            "linked": linked,
        },
    )
