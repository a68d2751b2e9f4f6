"""Close the gate of a fact: it is in force no more, until somebody validates it."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import lifecycle
from prism_memory.db.tenancy import for_tenant
from prism_memory.facts.locking import Which, lock_fact
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, Scope


@for_tenant
def quarantine_fact(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    reason: str,
) -> uuid.UUID:
    """Hold a fact of exactly ``scope`` back; return its id. Its acceptance stays.

    It is ``quarantine`` of its record, which begins a version of the fact too.

    Raises:
        NotVisible: No such fact in this scope.
        Invalid: The reason is blank.
        Conflict: It is retracted or forgotten.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        locked = lock_fact(using=using, scope=scope, which=which)
        locked.require_held()
        lifecycle.quarantine(
            using=using,
            scope=scope,
            actor=actor,
            record_id=locked.fact.id,
            at=at,
            reason=reason,
        )
    return locked.fact.id
