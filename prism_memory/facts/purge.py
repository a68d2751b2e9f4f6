"""Purge a fact: row, vectors, links and evidence are deleted; a skeleton stays."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from prism_memory import lifecycle
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, LimitExceeded
from prism_memory.facts.locking import Which, lock_fact
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, Forgotten, Scope


@for_tenant
def purge(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    which: Which,
    at: dt.datetime,
    reason: str = "",
) -> Forgotten:
    """Delete a fact of exactly ``scope`` with all that is derived from it (B417).

    The audit keeps ids and counts. It is ``forget`` of its record.

    Raises:
        NotVisible: No such fact in this scope.
        Conflict: A legal hold keeps it.
        LimitExceeded: More derives from it than is removed at once; ``erase`` knows
            no such limit.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        locked = lock_fact(using=using, scope=scope, which=which)
        if locked.held:
            message = "A legal hold keeps the fact."
            raise Conflict(message, field="id")
        try:
            return lifecycle.forget(
                using=using,
                scope=scope,
                actor=actor,
                ids=[locked.fact.id],
                at=at,
                reason=reason,
            )
        except LimitExceeded as error:
            message = f"{error} erase(record=...) knows no such limit."
            raise LimitExceeded(message, field=error.field) from error
