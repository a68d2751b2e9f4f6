"""Remove one page of records, with all that is derived from them."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from psycopg import sql

from prism_memory import audit
from prism_memory.access import held
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.governance.erasure.target import Target
from prism_memory.lifecycle.removal import (
    announce_invalidation,
    delete_bodies,
)
from prism_memory.types import NIL, Actor, TombstoneReason, record_ref

PAGE: Final = 1_000
"""Records of one transaction."""

START: Final[Mapping[str, Any]] = {
    "after_scope": str(NIL),
    "after_sequence": str(-(2**63)),
    "after_id": str(NIL),
}
"""Where the first page begins."""


@dataclass(frozen=True)
class Gone:
    """What one page removed.

    Args:
        whole: All that is derived is gone too, but for what holds keep; else there is
            more of it than a page, and the same records are to be removed again.
        rows: Rows removed, by table.
        kinds: Records removed, by kind.
        beyond: Scopes of the records removed that derive from these.
        kept: Records that derive from these and that a hold keeps, newly blocked.
    """

    whole: bool = True
    rows: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    beyond: frozenset[uuid.UUID] = frozenset()
    kept: frozenset[tuple[uuid.UUID, uuid.UUID]] = frozenset()


def read_page(
    *, using: str, target: Target, after: Mapping[str, Any], rows: int
) -> list[dict[str, Any]]:
    """Return the next records of a target, each with whether a hold keeps it."""
    parts: dict[str, sql.Composable] = {"held": held()}
    if target.is_scope:
        parts["within"] = target.within
    statement = composed("erasure", f"page_of_{target.family}", **parts)
    return queries.fetch(
        using, statement, {**target.parameters(), **after, "rows": rows}
    )


def place_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the page after a record begins."""
    return {
        "after_scope": str(row["scope_id"]),
        "after_sequence": str(row["sequence"]),
        "after_id": str(row["id"]),
    }


def remove_page(
    *,
    using: str,
    target: Target,
    run_id: uuid.UUID,
    ids: Sequence[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
    most: int = PAGE,
    wait: bool = True,
) -> Gone:
    """Block records and all that is derived from them, then delete the bodies.

    What is derived goes too, wherever in the tenant it is: it can never be recalled
    again, and may hold the same words. In one transaction with the lineage to itself.

    Args:
        ids: Under no hold.
        most: Bodies deleted beyond the records' own. What derives from more goes from
            its far end, so that the rest can still be found.
        wait: For others' locks; else the first one raises.
    """
    tenant = target.tenant
    reached = _derived(using, tenant, ids)
    refs = [record_ref(row["id"]) for row in reached]
    blocked = _mark(using, tenant, refs, actor, at)
    announce_invalidation(
        using=using, tenant=tenant, reason=TombstoneReason.FORGOTTEN, refs=blocked
    )
    roots = set(ids)
    doomed, whole = _chosen(reached, roots, most)
    _lock(using, tenant, list(doomed), wait=wait)
    rows = delete_bodies(using=using, tenant=tenant, ids=doomed, batch=2 * PAGE)
    new = set(blocked)
    kept = frozenset(
        (row["id"], row["scope_id"])
        for row in reached
        if row["held"] and record_ref(row["id"]) in new
    )
    beyond = frozenset(
        row["scope_id"]
        for row in reached
        if row["id"] in doomed and row["id"] not in roots
    )
    audit.record(
        using=using,
        tenant=tenant,
        actor=actor,
        action="memory.erase_page",
        target=target.ref,
        at=at,  # of the tombstones: by it the event accounts for them
        detail={"deleted": len(doomed), "refs": len(blocked), "run": str(run_id)},
    )
    return Gone(whole, Counter(rows), Counter(doomed.values()), beyond, kept)


def _chosen(
    reached: Sequence[Mapping[str, Any]], roots: set[uuid.UUID], most: int
) -> tuple[dict[uuid.UUID, str], bool]:
    """Return the records to delete now with their kinds, and whether these are all."""
    free = {row["id"]: row["kind"] for row in reached if not row["held"]}
    beyond = [record_id for record_id in free if record_id not in roots]
    if len(beyond) <= most:
        return free, True
    return {record_id: free[record_id] for record_id in beyond[-most:]}, False


def _derived(using: str, tenant: str, ids: Sequence[uuid.UUID]) -> list[dict[str, Any]]:
    given = {"tenant": tenant, "roots": [record_ref(i) for i in sorted(ids)]}
    return queries.fetch(using, composed("erasure", "derived", held=held()), given)


def _mark(
    using: str, tenant: str, refs: Sequence[str], actor: Actor, at: dt.datetime
) -> list[str]:
    given = {"tenant": tenant, "refs": list(refs), "actor": actor.name, "at": at}
    rows = queries.fetch(using, named("erasure")["mark_erased"], given)
    return [row["target_ref"] for row in rows]


def _lock(using: str, tenant: str, ids: Sequence[uuid.UUID], *, wait: bool) -> None:
    given = {"tenant": tenant, "record_ids": list(ids)}
    how = sql.SQL("" if wait else "NOWAIT")
    for name in ("lock_erased", "lock_vectors"):
        queries.fetch(using, composed("erasure", name, wait=how), given)
