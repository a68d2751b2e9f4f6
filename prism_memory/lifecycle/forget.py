"""Forget records, or a whole thread: real deletes, with all that is derived."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any, Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import ScopeDenied
from prism_memory.lifecycle.removal import (
    BATCH,
    Removed,
    announce_invalidation,
    lock_records,
    remove,
)
from prism_memory.lifecycle.tombstones import closure, hold_lineage, mark_derived
from prism_memory.types import Actor, Forgotten, Kind, Scope, TombstoneReason

THREAD_KINDS: Final = (Kind.ENTRY, Kind.TURN, Kind.NOTE)
"""What a thread is made of. Never the chunks or facts of a corpus whose thread has the
same name (B151)."""

FIRST: Final = uuid.UUID(int=0)


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
        hold: Keep the bodies for a legal hold, and hide them with all that is derived.
        reason: For the audit; no text content.

    Raises:
        LimitExceeded: Further than 8 derivations, or more than 256 refs: nothing was
            done. ``erase`` knows no such limit.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if not ids:
        return Forgotten()
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        found = lock_records(using=using, scope=scope, ids=ids)
        kept = {record_id for record_id, is_held in found.items() if is_held}
        given: dict[str, Any] = {"using": using, "actor": actor, "at": at}
        given["tenant"] = scope.tenant
        if hold:
            done = _hide(ids=found.keys(), **given)
        else:
            done = _delete(ids=found.keys() - kept, **given)
        forgotten = _told(done, kept, set(ids) - found.keys())
        if found:
            _record(using, scope, actor, at, forgotten, hold=hold, reason=reason)
    return forgotten


@for_tenant
def forget_thread(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    reason: str = "",
) -> Forgotten:
    """Forget all that was said in a thread up to now, however much it is.

    In batches of 64, each all or nothing; what was done stays if a later one fails, and
    the same call goes on from there. What is written meanwhile stays.

    Raises:
        ScopeDenied: The scope is no thread.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if not scope.thread:
        message = "Only a thread can be forgotten as a whole; erase takes any scope."
        raise ScopeDenied(message, field="scope")
    total = Forgotten()
    for ids in _pages(using, scope, at):
        with transaction.atomic(using=using):
            hold_lineage(using=using, tenant=scope.tenant, alone=True)
            found = lock_records(using=using, scope=scope, ids=ids)
            kept = {record_id for record_id, is_held in found.items() if is_held}
            done = _delete(
                using=using,
                tenant=scope.tenant,
                ids=found.keys() - kept,
                actor=actor,
                at=at,
                capped=False,
            )
            part = _told(done, kept)
            _record(using, scope, actor, at, part, thread=True, reason=reason)
        total = _sum(total, part)
    _remove_empty_sources(using, scope)
    return total


def _remove_empty_sources(using: str, scope: Scope) -> None:
    given = {"tenant": scope.tenant, "scope_id": scope.id}
    with transaction.atomic(using=using):
        queries.fetch(using, named("removal")["lock_sources"], given)
        queries.execute(using, named("removal")["delete_empty_sources"], given)


def _delete(**given: Any) -> Removed:  # noqa: ANN401 - as remove has them
    if not given["ids"]:
        return Removed()
    return remove(reason=TombstoneReason.FORGOTTEN, **given)


def _hide(
    *,
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
) -> Removed:
    if not ids:
        return Removed()
    reason = TombstoneReason.LEGAL_HOLD
    roots = [f"record:{record_id}" for record_id in sorted(ids)]
    closure(using=using, tenant=tenant, roots=roots)
    blocked = mark_derived(
        using=using,
        tenant=tenant,
        roots=roots,
        reason=reason,
        actor=actor,
        at=at,
        hold=True,
    )
    announce_invalidation(
        using=using, tenant=tenant, reason=reason, refs=blocked, hold=True
    )
    return Removed(blocked=tuple(blocked))


def _told(
    done: Removed,
    kept: set[uuid.UUID],
    missing: Collection[uuid.UUID] = (),
) -> Forgotten:
    return Forgotten(
        deleted=len(done.records),
        kept=tuple(sorted(kept | set(done.kept))),
        blocked=len(done.blocked),
        missing=tuple(sorted(missing)),
        rows=done.rows,
    )


def _sum(one: Forgotten, other: Forgotten) -> Forgotten:
    return Forgotten(
        deleted=one.deleted + other.deleted,
        kept=tuple(sorted({*one.kept, *other.kept})),
        blocked=one.blocked + other.blocked,
        rows=dict(Counter(one.rows) + Counter(other.rows)),
    )


def _pages(using: str, scope: Scope, at: dt.datetime) -> Iterator[list[uuid.UUID]]:
    after = FIRST
    while True:
        given = {
            "tenant": scope.tenant,
            "scope_id": scope.id,
            "kinds": [kind.value for kind in THREAD_KINDS],
            "before": at,
            "after": after,
            "rows": BATCH,
        }
        found = queries.fetch(using, named("removal")["oldest_of_scope"], given)
        if not found:
            return
        ids = [row["id"] for row in found]
        after = ids[-1]
        yield ids


def _record(
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    done: Forgotten,
    *,
    reason: str,
    hold: bool = False,
    thread: bool = False,
) -> None:
    audit.record(
        using=using,
        tenant=scope.tenant,
        actor=actor,
        action="memory.forget_thread" if thread else "memory.forget",
        target=f"scope:{scope.id}",
        at=at,
        reason=reason,
        detail={
            "hold": hold,
            "deleted": done.deleted,
            "kept": len(done.kept),
            "refs": done.blocked,
        },
    )
