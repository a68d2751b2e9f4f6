"""Forget records: real deletes, with all that is derived, or hidden for a hold."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import LimitExceeded
from prism_memory.lifecycle.removal import (
    Removed,
    announce_invalidation,
    lock_records,
    records_of_scope,
    remove,
)
from prism_memory.lifecycle.same_words import same_words
from prism_memory.lifecycle.tombstones import (
    MOST_REFS,
    closure,
    hold_lineage,
    mark_derived,
)
from prism_memory.types import (
    Actor,
    Forgotten,
    Scope,
    TombstoneReason,
    record_ids,
    record_ref,
)


@for_tenant
def forget(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    ids: Collection[uuid.UUID],
    at: dt.datetime,
    hold: bool = False,
    reason: str = "",
) -> Forgotten:
    """Forget records of exactly ``scope``: all of them, or none.

    What a hold keeps is passed over and told. No ids: nothing happens.

    Args:
        ids: 256 at most. Where a document says a chunk's words at other places too, or
            in another generation, these go with it.
        hold: Keep the bodies for a legal hold, and hide them with all that is derived.
        reason: For the audit; no text content.

    Raises:
        LimitExceeded: Further than 8 derivations, or more than 256 refs: nothing was
            done. ``erase`` knows no such limit.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    wanted = check_number(ids)
    if not wanted:
        return Forgotten()
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        found = records_of_scope(using=using, scope=scope, ids=wanted)
        if not found:
            return Forgotten(missing=tuple(sorted(wanted)))
        if hold:
            done = _hide(using, scope.tenant, found, actor, at)
        else:
            done = remove(
                using=using,
                tenant=scope.tenant,
                ids=found,
                reason=TombstoneReason.FORGOTTEN,
                actor=actor,
                at=at,
                words=True,
            )
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="memory.forget",
            target=target_of(scope, found),
            at=at,
            reason=reason,
            detail=detail_of(done) | {"hold": hold},
        )
    return told(done, missing=wanted - found)


def check_number(ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Return the ids, each once.

    Raises:
        LimitExceeded: More than a person's verb takes at once.
    """
    if len(wanted := set(ids)) > MOST_REFS:
        message = f"ids takes at most {MOST_REFS}."
        raise LimitExceeded(message, field="ids")
    return wanted


def _hide(
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
) -> Removed:
    reason = TombstoneReason.LEGAL_HOLD
    same = same_words(using=using, tenant=tenant, ids=ids)
    roots = [record_ref(record_id) for record_id in sorted({*ids, *same})]
    refs = closure(using=using, tenant=tenant, roots=roots)
    # Who is writing one of them comes first, or sees the hold.
    kept = lock_records(using=using, tenant=tenant, ids=record_ids(refs))
    mark_derived(
        using=using,
        tenant=tenant,
        roots=roots,
        reason=reason,
        actor=actor,
        at=at,
        hold=True,
    )
    announce_invalidation(
        using=using, tenant=tenant, reason=reason, refs=refs, hold=True
    )
    return Removed(kept=tuple(sorted(kept)), blocked=tuple(refs))


def target_of(scope: Scope, ids: Collection[uuid.UUID]) -> str:
    """Return what an audit names: the record where it is one, else the scope."""
    if len(ids) == 1:
        (only,) = ids
        return record_ref(only)
    return f"scope:{scope.id}"


def detail_of(done: Removed) -> dict[str, object]:
    """Return what an audit notes: how many, and which by their tombstones.

    And, where facts stand on other evidence than what went, how many.
    """
    counts = {
        "deleted": len(done.records),
        "kept": len(done.kept),
        "refs": len(done.blocked),
    }
    stood = {"spared": len(done.spared), "lowered": done.lowered}
    return {**counts, **(stood if done.spared else {})}


def told(done: Removed, *, missing: Collection[uuid.UUID] = ()) -> Forgotten:
    """Return what a removal did, as the doors tell it."""
    return Forgotten(
        deleted=len(done.records),
        kept=done.kept,
        blocked=len(done.blocked),
        missing=tuple(sorted(missing)),
        rows=done.rows,
    )
