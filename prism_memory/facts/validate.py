"""Open the gate of a fact, and let it replace what it waits for."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.db import transaction

from prism_memory import lifecycle
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.facts.accept import Decided
from prism_memory.facts.locking import Which, lock_fact
from prism_memory.facts.pending import complete, moment
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import Fact
from prism_memory.types import Actor, Scope


@for_tenant
def validate_fact(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    force: bool = False,
    reason: str = "",
) -> Decided:
    """Scan a fact of exactly ``scope`` again, and open its gate if nothing matches.

    A supersede that waited is completed, if the fact may replace the old one; else it
    still waits, and the answer says so (B423).

    Args:
        force: Open it although rules match. No agent's tool may pass this (B413).

    Raises:
        NotVisible: No such fact in this scope (B422).
        StillFlagged: Rules match still; nothing is changed (B412).
        Conflict: It is retracted or forgotten.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        locked = lock_fact(using=using, scope=scope, which=which)
        locked.require_held()
        locked.require_here()
        lifecycle.validate(
            using=using,
            scope=scope,
            actor=actor,
            record_id=locked.fact.id,
            at=at,
            reason=reason,
            force=force,
        )
        given: Any = {"using": using, "scope": scope, "actor": actor, "at": at}
        return _replace(**given, fact_id=locked.fact.id, reason=reason)


@for_tenant
def validate_record(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    at: dt.datetime,
    force: bool = False,
    reason: str = "",
) -> bool:
    """Do as ``lifecycle.validate``, and as ``validate_fact`` where it is one's words.

    Raises:
        NotVisible: No such record in this scope.
        StillFlagged: Rules match still; nothing is changed.
        Conflict: An import is not done with it.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    given: Any = {"using": using, "scope": scope, "actor": actor, "at": at}
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        opened = lifecycle.validate(
            **given, record_id=record_id, reason=reason, force=force
        )
        facts = Fact.objects.using(using).filter(tenant=scope.tenant, id=record_id)
        if facts.exclude(archived_at=None).exists():
            message = "The fact is archived: take it back first."
            raise Conflict(message, field="id")
        if opened and facts.exists():
            _replace(**given, fact_id=record_id, reason=reason)
    return opened


def _replace(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    fact_id: uuid.UUID,
    at: dt.datetime,
    reason: str,
) -> Decided:
    now = lock_fact(using=using, scope=scope, which=fact_id)
    replaced = now.version is not None and complete(
        using=using,
        scope=scope,
        actor=actor,
        new=now,
        version=now.version,
        at=at,
        instant=moment(using=using, tenant=scope.tenant, new=now),
        reason=reason,
    )
    waiting = now.fact.pending_supersedes is not None and not replaced
    return Decided(fact_id, replaced, waiting)
