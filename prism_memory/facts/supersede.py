"""Replace a fact: the world changed, and both stay known for their own time."""

from __future__ import annotations

import datetime as dt
import uuid
from dataclasses import dataclass, replace
from enum import StrEnum

from django.db import IntegrityError, transaction

from prism_memory import acceptance, access, audit
from prism_memory.access import Reader
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import FactKeyInUse, Invalid, NotAccepted, NotVisible
from prism_memory.facts.assert_fact import is_key_in_use
from prism_memory.facts.ending import close_old, may_replace
from prism_memory.facts.forgotten import hold_forgotten
from prism_memory.facts.locking import Locked, Which, lock_fact
from prism_memory.facts.pending import complete, moment
from prism_memory.facts.writing import Prepared, cite, write
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.versions import instant
from prism_memory.models import Fact
from prism_memory.types import (
    Acceptance,
    Actor,
    Scope,
    record_ref,
)


class OnUnaccepted(StrEnum):
    """What becomes of a successor that may not replace an accepted fact."""

    REFUSE = "refuse"
    PENDING = "pending"


@dataclass(frozen=True)
class Superseded:
    """What a supersede did.

    Args:
        id: The successor's.
        old: The fact that it replaces, or is to replace.
        pending: It waits: the old fact is in force until it may.
    """

    id: uuid.UUID
    old: uuid.UUID
    pending: bool


@for_tenant
def supersede(  # noqa: PLR0913 - keywords
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    reader: Reader,
    which: Which,
    prepared: Prepared,
    embedder: str,
    at: dt.datetime,
    on_unaccepted: OnUnaccepted = OnUnaccepted.REFUSE,
    reason: str = "",
) -> Superseded:
    """Write a successor of a fact of exactly ``scope``, and close the old at its start.

    An interval that is closed already is not moved (B415). A successor that the gate
    holds back leaves the old fact in force, and waits for ``validate`` (B410).

    Args:
        which: Id or key of the old fact.
        prepared: Of the successor; it takes the old one's key unless it has its own.
        on_unaccepted: ``refuse`` writes nothing where the policy does not accept the
            successor of an accepted fact (B306); ``pending`` lets it wait.

    Raises:
        NotVisible: No such fact here, or what is cited is not in sight.
        NotAccepted: See ``on_unaccepted``.
        Conflict: The old fact is superseded, retracted or forgotten, perhaps by a rival
            in this moment (B317).
        Invalid: Nothing is cited, or the successor begins before the old fact does.
        FactKeyInUse: Another open fact has the successor's key.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    try:
        with transaction.atomic(using=using):
            # Alone: what waits for the old fact, or what it waits for, changes too.
            hold_lineage(using=using, tenant=scope.tenant, alone=True)
            ensure_scope(using=using, scope=scope, at=at)
            old = lock_fact(using=using, scope=scope, which=which)
            require_sight(using=using, reader=reader, fact_id=old.fact.id)
            old.require_open()
            trusts = cite(using=using, reader=reader, ids=prepared.claim.evidence)
            prepared = hold_forgotten(using=using, scope=scope, prepared=prepared)
            judged = acceptance.judge(trusts.values())
            waits = _waits(old, prepared, judged, on_unaccepted)
            check_start(old, prepared.claim.valid_from or at)
            new = _write(
                using, scope, actor, old, prepared, embedder, at, judged, reason, waits
            )
            if new.supersedes and new.pending_supersedes:
                _replace_too(using, scope, actor, new.id, at, reason)
            audit.record(
                using=using,
                tenant=scope.tenant,
                actor=actor,
                action="fact.supersede",
                target=record_ref(old.fact.id),
                at=at,
                reason=reason,
                detail={"by": str(new.id), "pending": waits, "acceptance": judged},
            )
    except IntegrityError as error:
        if not is_key_in_use(error):
            raise
        raise FactKeyInUse(field="key") from None
    return Superseded(new.id, old.fact.id, waits)


def require_sight(*, using: str, reader: Reader, fact_id: uuid.UUID) -> None:
    """Do nothing if a fact is in sight, whatever its time. One query.

    Raises:
        NotVisible: It is not: who may not know of it cannot end it either.
    """
    timeless = replace(reader, include_superseded=True)
    if not access.visible(using=using, reader=timeless).filter(id=fact_id).exists():
        raise NotVisible


def check_start(old: Locked, starts: dt.datetime) -> None:
    """Refuse a successor that would leave the old fact no time at all (B316).

    Raises:
        Invalid: It begins no later than the old fact.
    """
    if starts <= old.current.valid_from:
        message = (
            "valid_from must be after the fact's own: what was never true is retracted,"
            " not superseded."
        )
        raise Invalid(message, field="valid_from")


def _waits(
    old: Locked, prepared: Prepared, judged: Acceptance, on_unaccepted: OnUnaccepted
) -> bool:
    if not may_replace(old, judged):
        if on_unaccepted is OnUnaccepted.REFUSE:
            raise NotAccepted(field="evidence")
        return True
    return bool(prepared.row.verdict.flagged)


def _write(  # noqa: PLR0913 - what the verb has, once
    using: str,
    scope: Scope,
    actor: Actor,
    old: Locked,
    prepared: Prepared,
    embedder: str,
    at: dt.datetime,
    judged: Acceptance,
    reason: str,
    waits: bool,
) -> Fact:
    moment = instant(using=using, tenant=scope.tenant, fact_ids=[old.fact.id])
    if not waits:
        close_old(
            using=using,
            old=old,
            new_id=prepared.id,
            starts=prepared.claim.valid_from or at,
            actor=actor,
            at=at,
            instant=moment,
            reason=reason,
        )
    return write(
        using=using,
        scope=scope,
        actor=actor,
        prepared=replace(prepared, key=_key(old, prepared, waits=waits)),
        embedder=embedder,
        at=at,
        instant=moment,
        acceptance=judged,
        links=_links(old.fact, waits=waits),
        reason=reason,
    )


def _links(old: Fact, *, waits: bool) -> dict[str, uuid.UUID]:
    """Return what the successor replaces, and what it waits to in its place."""
    if waits:
        return {"pending_supersedes": old.id}
    links = {"supersedes": old.id}
    if old.pending_supersedes is not None:
        links["pending_supersedes"] = old.pending_supersedes
    return links


def _key(old: Locked, prepared: Prepared, *, waits: bool) -> str:
    if prepared.named:
        return prepared.key
    return prepared.key if waits else old.fact.key


def _replace_too(
    using: str,
    scope: Scope,
    actor: Actor,
    fact_id: uuid.UUID,
    at: dt.datetime,
    reason: str,
) -> None:
    """Let the successor of what waited take the place that it waited for."""
    new = lock_fact(using=using, scope=scope, which=fact_id)
    complete(
        using=using,
        scope=scope,
        actor=actor,
        new=new,
        version=new.current,
        at=at,
        instant=moment(using=using, tenant=scope.tenant, new=new),
        reason=reason,
    )
