"""Remember a claim: it is compared with what stands, and stored, dropped or put after.

Source: S3. The claim was embedded before, outside any transaction; what stands near it
is looked for inside, while nobody else remembers a claim in its scope.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from django.db import IntegrityError, transaction

from prism_memory import acceptance
from prism_memory.access import Reader
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, FactKeyInUse
from prism_memory.facts.assert_fact import is_key_in_use
from prism_memory.facts.candidates import Near, Placed, nearest
from prism_memory.facts.committing import Overtaken, Writing, committed
from prism_memory.facts.conflict import Decision, New, Rules, decide, folded_sha256
from prism_memory.facts.decisions import note_decision
from prism_memory.facts.forgotten import hold_forgotten
from prism_memory.facts.standing import standing
from prism_memory.facts.vectors import write_vector
from prism_memory.facts.vouching import Vouched
from prism_memory.facts.writing import Prepared, cite
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import (
    Acceptance,
    Actor,
    ConflictStage,
    Scope,
    Trust,
    Verdict,
)

TRIES: Final = 5
"""Rivals in a row that a claim meets, at most."""

OFF: Final = Decision(Verdict.ADMIT, ConflictStage.OFF, reason="not compared")


@dataclass(frozen=True)
class Outcome:
    """What became of a claim.

    Args:
        fact_id: Of the fact that stands.
        decision_id: Of the row that keeps the decision.
        quarantine_reason: Why the gate holds the new fact back, or ``""``.
    """

    fact_id: uuid.UUID
    decision: Decision
    decision_id: uuid.UUID
    quarantine_reason: str


@for_tenant
def remember_fact(  # noqa: PLR0913 - keywords
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    reader: Reader,
    vouched: Vouched,
    placed: Placed,
    rules: Rules | None,
    embedder: str,
    at: dt.datetime,
    reason: str = "",
) -> Outcome:
    """Store a claim at exactly ``scope``, unless what stands there says it already.

    Args:
        reader: Who must see what is cited, and sees what it is compared with.
        placed: Where it lies among vectors.
        rules: What decides; None stores it whatever stands there.

    Raises:
        NotVisible: What is cited is not in sight.
        FactKeyInUse: An open fact has the key and says something else.
        Conflict: Rivals changed again and again what it was to replace.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    writing = Writing(using, scope, actor, reader, embedder, at, reason)
    for _ in range(TRIES):
        try:
            with transaction.atomic(using=using):
                return _remember(writing, vouched, placed, rules)
        except Overtaken:
            continue
        except IntegrityError as error:
            if not is_key_in_use(error):
                raise
            raise FactKeyInUse(field="key") from None
    message = "The facts near it were changed again and again; try again."
    raise Conflict(message, field="text")


def _remember(
    writing: Writing, vouched: Vouched, placed: Placed, rules: Rules | None
) -> Outcome:
    using, scope = writing.using, writing.scope
    prepared = vouched.prepared
    words = folded_sha256(prepared.claim.statement)
    # Alone, and before the claims: it may supersede, and needs the lineage for it.
    hold_lineage(using=using, tenant=scope.tenant, alone=True)
    ensure_scope(using=using, scope=scope, at=writing.at)
    judged = acceptance.judge(_trusts(writing, vouched))
    prepared = hold_forgotten(using=using, scope=scope, prepared=prepared)
    decision, writing = _decided(writing, prepared, judged, words, placed, rules)
    fact_id, decision = committed(writing, vouched, prepared, judged, decision)
    is_new = fact_id == prepared.id
    if is_new:
        write_vector(
            using=using, scope=scope, row=prepared.row, placed=placed, at=writing.at
        )
    decision_id = note_decision(
        using=using,
        scope=scope,
        actor=writing.actor,
        fact_id=fact_id,
        decision=decision,
        at=writing.at,
    )
    reason = prepared.row.verdict.reason if is_new else ""
    return Outcome(fact_id, decision, decision_id, reason)


def _trusts(writing: Writing, vouched: Vouched) -> Collection[Trust]:
    """Return who vouches for each record that is cited; for bare words, their writer.

    Raises:
        NotVisible: What is cited is not in sight.
    """
    if vouched.note is not None:
        return [vouched.trust]
    ids = vouched.prepared.claim.evidence
    return cite(using=writing.using, reader=writing.reader, ids=ids).values()


def _decided(
    writing: Writing,
    prepared: Prepared,
    judged: Acceptance,
    words: bytes,
    placed: Placed,
    rules: Rules | None,
) -> tuple[Decision, Writing]:
    """Return what becomes of a claim, and when it is written."""
    if rules is None:
        return OFF, writing
    using, reader, at = writing.using, writing.reader, writing.at
    near = nearest(using=using, reader=reader, placed=placed, at=at)
    existing, at = standing(
        using=using,
        reader=reader,
        claim=prepared.claim,
        words=words,
        cosines=near.cosines,
        at=at,
    )
    found = decide(_new(prepared, judged, at), existing, rules)
    return _degraded(near, found), replace(writing, at=at)


def _new(prepared: Prepared, judged: Acceptance, at: dt.datetime) -> New:
    claim = prepared.claim
    return New(
        text=claim.statement,
        subject=claim.subject,
        predicate=claim.predicate,
        value=claim.value,
        acceptance=judged,
        is_open=not prepared.row.verdict.flagged,
        is_over=claim.valid_to is not None and claim.valid_to <= at,
        id=prepared.id,
    )


def _degraded(near: Near, decision: Decision) -> Decision:
    """Say what could not be asked, unless the same words were there."""
    if not near.degraded or decision.stage is ConflictStage.EXACT:
        return decision
    return replace(decision, reason=f"{decision.reason}; degraded: {near.degraded}")
