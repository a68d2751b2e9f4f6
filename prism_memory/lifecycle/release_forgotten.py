"""End what ``forget(hold=True)`` began: forget for good, or show again."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Sequence
from dataclasses import replace

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.lifecycle.forget import check_number, detail_of, target_of, told
from prism_memory.lifecycle.removal import Removed, records_of_scope, remove
from prism_memory.lifecycle.same_words import same_words
from prism_memory.lifecycle.tombstones import hold_lineage, lift_holds
from prism_memory.types import (
    Actor,
    Forgotten,
    Scope,
    TombstoneReason,
    record_ids,
    record_ref,
)


@for_tenant
def release_forgotten(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    ids: Collection[uuid.UUID],
    at: dt.datetime,
    restore: bool = False,
    reason: str = "",
) -> Forgotten:
    """Lift the holds that forgetting records of exactly ``scope`` placed on them.

    With all that is derived from them. Then they are forgotten for good, or shown again
    unless something else blocks them. All of them, or none.

    Args:
        ids: 256 at most. Those that no such hold is rooted in are ``missing``.
        restore: Show them again.
        reason: For the audit; no text content.

    Raises:
        Conflict: Another hold keeps one of those that shall go; nothing was done.
        LimitExceeded: Their closure is over the caps of ``forget``; nothing was done.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    wanted = check_number(ids)
    if not wanted:
        return Forgotten()
    tenant = scope.tenant
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=tenant, alone=True)
        there = records_of_scope(using=using, scope=scope, ids=wanted)
        there |= same_words(using=using, tenant=tenant, ids=there).keys()
        roots = _rooted(using, tenant, there)
        if not roots:
            return Forgotten(missing=tuple(sorted(wanted)))
        lifted = lift_holds(using=using, tenant=tenant, roots=roots, at=at)
        found = record_ids(roots)
        done = Removed()
        if not restore:
            done = _forget(using, tenant, found, actor, at)
        audit.record(
            using=using,
            tenant=tenant,
            actor=actor,
            action="memory.release_forgotten",
            target=target_of(scope, found),
            at=at,
            reason=reason,
            detail=detail_of(done) | {"lifted": len(lifted), "restore": restore},
        )
    return replace(told(done, missing=wanted - found), lifted=len(lifted))


def _rooted(using: str, tenant: str, ids: Collection[uuid.UUID]) -> Sequence[str]:
    given = {"tenant": tenant, "roots": [record_ref(i) for i in sorted(ids)]}
    rows = queries.fetch(using, named("lineage")["roots_of_holds"], given)
    return sorted(row["root_ref"] for row in rows)


def _forget(
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
) -> Removed:
    done = remove(
        using=using,
        tenant=tenant,
        ids=ids,
        reason=TombstoneReason.FORGOTTEN,
        actor=actor,
        at=at,
        words=True,
    )
    if set(done.kept) & set(ids):
        # To lift this hold would show again what shall be forgotten.
        message = "Another hold keeps what was hidden; release that one first."
        raise Conflict(message, field="ids")
    return done
