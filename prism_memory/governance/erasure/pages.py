"""Remove one page of records, with all that is derived from them."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from psycopg import sql

from prism_memory import audit
from prism_memory.access import held
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.governance.erasure.entities import drop_unmentioned, mentioned
from prism_memory.governance.erasure.target import Target
from prism_memory.lifecycle.evidence import lock_facts, loss_of, unlink
from prism_memory.lifecycle.own_words import own_words
from prism_memory.lifecycle.removal import (
    announce_invalidation,
    delete_bodies,
    held_records,
)
from prism_memory.types import NIL, Actor, Kind, TombstoneReason, record_ref

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
        facts: Facts removed.
        spared: Facts that cite something else too, and stay without what went.
    """

    whole: bool = True
    rows: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    beyond: frozenset[uuid.UUID] = frozenset()
    kept: frozenset[tuple[uuid.UUID, uuid.UUID]] = frozenset()
    facts: frozenset[uuid.UUID] = frozenset()
    spared: frozenset[uuid.UUID] = frozenset()


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
    again, and may hold the same words. A fact that cites something else too stays. In
    one transaction with the lineage to itself.

    Args:
        ids: Under no hold.
        most: Bodies deleted beyond the records' own. What derives from more goes from
            its far end, so that the rest can still be found.
        wait: For others' locks; else the first one raises.
    """
    given: dict[str, Any] = {"using": using, "tenant": target.tenant}
    words = own_words(**given, ids=ids)
    ids = [*ids, *(words - {*ids} - held_records(**given, ids=words))]
    loss = loss_of(**given, ids=ids)
    reached = _reached(using, target.tenant, loss.reached.refs)
    refs = [record_ref(row["id"]) for row in reached]
    blocked = _mark(using, target.tenant, refs, actor, at)
    announce_invalidation(**given, reason=TombstoneReason.FORGOTTEN, refs=blocked)
    doomed, whole = _chosen(reached, set(ids), most)
    _lock(using, target.tenant, list(doomed), loss.spared, wait=wait)
    spoken_of = mentioned(**given, fact_ids=doomed)
    unlinked = unlink(**given, links=loss.links, actor=actor, at=at)
    rows = Counter(unlinked.rows)
    rows.update(delete_bodies(**given, ids=doomed, batch=2 * PAGE))
    rows += drop_unmentioned(**given, ids=spoken_of)
    audit.record(
        **given,
        actor=actor,
        action="memory.erase_page",
        target=target.ref,
        at=at,  # of the tombstones: by it the event accounts for them
        detail={
            "deleted": len(doomed),
            "refs": len(blocked),
            "spared": len(loss.spared),
            "lowered": unlinked.lowered,
            "run": str(run_id),
        },
    )
    gone = _gone(reached, doomed, set(ids), set(blocked))
    return replace(gone, whole=whole, rows=rows, spared=loss.spared)


def _gone(
    reached: Sequence[Mapping[str, Any]],
    doomed: Mapping[uuid.UUID, str],
    roots: set[uuid.UUID],
    blocked: set[str],
) -> Gone:
    return Gone(
        kinds=Counter(doomed.values()),
        beyond=frozenset(
            row["scope_id"]
            for row in reached
            if row["id"] in doomed and row["id"] not in roots
        ),
        kept=frozenset(
            (row["id"], row["scope_id"])
            for row in reached
            if row["held"] and record_ref(row["id"]) in blocked
        ),
        facts=frozenset(i for i, kind in doomed.items() if kind == Kind.FACT),
    )


def _chosen(
    reached: Sequence[Mapping[str, Any]], roots: set[uuid.UUID], most: int
) -> tuple[dict[uuid.UUID, str], bool]:
    """Return the records to delete now with their kinds, and whether these are all."""
    free = {row["id"]: row["kind"] for row in reached if not row["held"]}
    beyond = [record_id for record_id in free if record_id not in roots]
    if len(beyond) <= most:
        return free, True
    return {record_id: free[record_id] for record_id in beyond[-most:]}, False


def _reached(using: str, tenant: str, refs: Sequence[str]) -> list[dict[str, Any]]:
    given = {"tenant": tenant, "refs": list(refs)}
    return queries.fetch(using, composed("erasure", "reached", held=held()), given)


def _mark(
    using: str, tenant: str, refs: Sequence[str], actor: Actor, at: dt.datetime
) -> list[str]:
    given = {"tenant": tenant, "refs": list(refs), "actor": actor.name, "at": at}
    rows = queries.fetch(using, named("erasure")["mark_erased"], given)
    return [row["target_ref"] for row in rows]


def _lock(
    using: str,
    tenant: str,
    ids: Sequence[uuid.UUID],
    spared: Collection[uuid.UUID],
    *,
    wait: bool,
) -> None:
    how = sql.SQL("" if wait else "NOWAIT")
    # Facts that stay too: a review of one hangs on its record.
    both = {"tenant": tenant, "record_ids": list({*ids, *spared})}
    queries.fetch(using, composed("erasure", "lock_erased", wait=how), both)
    lock_facts(using=using, tenant=tenant, ids={*ids, *spared}, wait=wait)
    given = {"tenant": tenant, "record_ids": list(ids)}
    queries.fetch(using, composed("erasure", "lock_vectors", wait=how), given)
