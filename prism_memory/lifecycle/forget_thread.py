"""Forget a whole thread, however long it is."""

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
from prism_memory.lifecycle.forget import detail_of, told
from prism_memory.lifecycle.removal import BATCH, Removed, records_of_scope, remove
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import (
    NIL,
    SAID_KINDS,
    Actor,
    Forgotten,
    Scope,
    TombstoneReason,
)

FIRST: Final = (-(2**63), NIL)


@for_tenant
def forget_thread(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    reason: str = "",
) -> Forgotten:
    """Forget all that is there of a thread when it begins, however much it is.

    In batches of 64, each all or nothing; what was done stays if a later one fails, and
    the same call goes on from there. What is first written meanwhile stays; what was
    there goes, whatever the clock of its writer said. Streams that are empty
    afterwards go too.

    Raises:
        ScopeDenied: The scope is no thread.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if not scope.thread:
        message = "Only a thread can be forgotten as a whole; erase takes any scope."
        raise ScopeDenied(message, field="scope")
    given: dict[str, Any] = {"using": using, "actor": actor, "at": at}
    done = [
        _forget(scope=scope, ids=ids, sources=sources, reason=reason, **given)
        for ids, sources in _pages(using, scope)
    ]
    return _sum(done)


def _pages(
    using: str, scope: Scope
) -> Iterator[tuple[list[uuid.UUID], set[uuid.UUID]]]:
    """Yield ids and sources of the next records, as they stand when asked for."""
    sequence, after = FIRST
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "kinds": [kind.value for kind in SAID_KINDS],
        "rows": BATCH,
    }
    last = queries.fetch(using, named("removal")["last_of_scope"], given)
    if not last:
        return
    given |= {
        "last": last[0]["sequence"],
        "last_id": last[0]["id"],
        "last_at": last[0]["at"],
    }
    while True:
        place = {"sequence": sequence, "after": after}
        found = queries.fetch(using, named("removal")["next_of_scope"], given | place)
        if not found:
            return
        sequence, after = found[-1]["sequence"], found[-1]["id"]
        sources = {row["source_id"] for row in found} - {None}
        yield [row["id"] for row in found], sources


def _forget(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    ids: Collection[uuid.UUID],
    sources: Collection[uuid.UUID],
    at: dt.datetime,
    reason: str,
) -> Removed:
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        lock_sources(using=using, tenant=scope.tenant, ids=sources)
        # Another may have forgotten them since they were read.
        there = records_of_scope(using=using, scope=scope, ids=ids)
        done = remove(
            using=using,
            tenant=scope.tenant,
            ids=there,
            reason=TombstoneReason.FORGOTTEN,
            actor=actor,
            at=at,
            capped=False,
            words=True,
        )
        emptied = delete_empty_sources(using=using, tenant=scope.tenant, ids=sources)
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="memory.forget_thread",
            target=f"scope:{scope.id}",
            at=at,
            reason=reason,
            detail=detail_of(done) | {"sources": emptied},
        )
    return done


def lock_sources(*, using: str, tenant: str, ids: Collection[uuid.UUID]) -> None:
    """Lock sources, before their records. One query, none without ids."""
    if ids:
        given = {"tenant": tenant, "source_ids": list(ids)}
        queries.fetch(using, named("removal")["lock_sources"], given)


def delete_empty_sources(
    *, using: str, tenant: str, ids: Collection[uuid.UUID], documents: bool = False
) -> int:
    """Delete those without a record or a hold. One query, none without ids.

    Args:
        documents: Also documents. Else they stay, as what was forgotten of one is known
            by its source.
    """
    if not ids:
        return 0
    given = {"tenant": tenant, "source_ids": list(ids), "documents": documents}
    return queries.execute(using, named("removal")["delete_empty_sources"], given)


def _sum(parts: Collection[Removed]) -> Forgotten:
    rows: Counter[str] = Counter()
    for part in parts:
        rows.update(part.rows)
    return told(
        Removed(
            records=tuple(i for part in parts for i in part.records),
            kept=tuple(sorted({i for part in parts for i in part.kept})),
            blocked=tuple(ref for part in parts for ref in part.blocked),
            rows=dict(rows),
        )
    )
