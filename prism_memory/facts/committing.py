"""Do what was decided about a claim: store it, put it in a place, or leave what stands.

The transaction is the verb's.
"""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass, replace

from prism_memory import audit
from prism_memory.access import Reader
from prism_memory.errors import Conflict, FactKeyInUse
from prism_memory.facts.bare_words import store_bare_words
from prism_memory.facts.conflict import Decision
from prism_memory.facts.supersede import OnUnaccepted, supersede
from prism_memory.facts.vouching import Vouched
from prism_memory.facts.writing import Prepared, write
from prism_memory.lifecycle.versions import instant
from prism_memory.types import Acceptance, Actor, Scope, Verdict, record_ref


class Overtaken(Exception):
    """A rival changed what the claim was to replace; it is decided anew."""


@dataclass(frozen=True)
class Writing:
    """What is the same in all steps of one remember."""

    using: str
    scope: Scope
    actor: Actor
    reader: Reader
    embedder: str
    at: dt.datetime
    reason: str


def committed(
    writing: Writing,
    vouched: Vouched,
    prepared: Prepared,
    judged: Acceptance,
    decision: Decision,
) -> tuple[uuid.UUID, Decision]:
    """Do what was decided; return the fact that stands, and what came of it."""
    if decision.verdict is Verdict.DEDUP and decision.target is not None:
        return decision.target, decision
    if vouched.note is not None:
        store_bare_words(
            using=writing.using,
            scope=writing.scope,
            actor=writing.actor,
            notes=[vouched.note],
            embedder=writing.embedder,
            at=writing.at,
        )
    if decision.verdict is Verdict.SUPERSEDE and decision.target is not None:
        waits = _supersede(writing, prepared, decision.target)
        if waits:
            reason = f"{decision.reason}; it waits until it may"
            decision = replace(decision, reason=reason)
        return prepared.id, decision
    fact = write(
        using=writing.using,
        scope=writing.scope,
        actor=writing.actor,
        prepared=prepared,
        embedder=writing.embedder,
        at=writing.at,
        instant=instant(using=writing.using, tenant=writing.scope.tenant),
        acceptance=judged,
        reason=writing.reason,
    )
    audit.record(
        using=writing.using,
        tenant=writing.scope.tenant,
        actor=writing.actor,
        action="fact.remember",
        target=record_ref(fact.id),
        at=writing.at,
        reason=writing.reason,
        detail={
            "acceptance": judged,
            "verdict": decision.verdict,
            "gate": prepared.row.verdict.reason,
        },
    )
    return fact.id, decision


def _supersede(writing: Writing, prepared: Prepared, target: uuid.UUID) -> bool:
    """Put a claim in a fact's place; tell whether it has to wait for that.

    Raises:
        Overtaken: A rival closed the fact in this moment.
    """
    # The words that it cites are out of sight from their first moment on.
    seeing = replace(
        writing.reader,
        include_retired=True,
        include_quarantined=True,
        include_restricted=True,
        strict=False,
    )
    try:
        done = supersede(
            using=writing.using,
            scope=writing.scope,
            actor=writing.actor,
            reader=seeing,
            which=target,
            prepared=prepared,
            embedder=writing.embedder,
            at=writing.at,
            on_unaccepted=OnUnaccepted.PENDING,
            reason=writing.reason,
        )
    except FactKeyInUse:
        raise
    except Conflict as error:
        raise Overtaken from error
    return done.pending
