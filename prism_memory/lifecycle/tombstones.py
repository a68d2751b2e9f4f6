"""Mark what may no longer be used, with all that is derived from it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import LimitExceeded, Unsupported
from prism_memory.lifecycle.reach import Reach, reach
from prism_memory.types import Actor, TombstoneReason, record_ref, uuid7

MOST_DISTANCE: Final = 8
MOST_REFS: Final = 256
"""Source: S0; distance is that of the graph, from the nearest root (B158, B160)."""


def hold_lineage(*, using: str, tenant: str, alone: bool = False) -> None:
    """Take part in the tenant's lineage until the transaction ends. One query.

    Args:
        alone: For who blocks or unblocks a closure: nobody derives meanwhile.

    Raises:
        Unsupported: The transaction is not READ COMMITTED: it would go on to see what
            was there when it began, and so miss what others blocked or derived before
            it got its turn.
    """
    statement = named("lineage")["own_lineage" if alone else "share_lineage"]
    (row,) = queries.fetch(using, statement, {"tenant": tenant})
    if row["isolation"] != "read committed":
        message = (
            "Lineage and consent change in READ COMMITTED transactions only, not in "
            f"{row['isolation'].upper()}."
        )
        raise Unsupported(message)


def closure(*, using: str, tenant: str, roots: Sequence[str]) -> list[str]:
    """Return the roots and every ref derived from them. One query.

    Raises:
        LimitExceeded: Further than 8 derivations away, or more than 256 refs.
    """
    given = {
        "tenant": tenant,
        "roots": list(roots),
        "most_distance": MOST_DISTANCE,
        "most_refs": MOST_REFS,
    }
    rows = queries.fetch(using, named("lineage")["closure"], given)
    if len(rows) > MOST_REFS:
        message = f"More than {MOST_REFS} records derive from it."
        raise LimitExceeded(message, field="lineage")
    if rows and rows[-1]["distance"] > MOST_DISTANCE:
        message = f"Its lineage is more than {MOST_DISTANCE} derivations deep."
        raise LimitExceeded(message, field="lineage")
    return [row["ref"] for row in rows]


def derivations(
    *, using: str, tenant: str, roots: Sequence[str]
) -> list[tuple[str, str]]:
    """Return each ref with one derived from it, from the roots on. One query.

    However much it is.
    """
    given = {"tenant": tenant, "roots": list(roots)}
    rows = queries.fetch(using, named("lineage")["walk"], given)
    return [(row["source_ref"], row["ref"]) for row in rows]


def walk(*, using: str, tenant: str, roots: Sequence[str]) -> Reach:
    """Return what derives from the roots, however much it is. One query."""
    return reach(roots, derivations(using=using, tenant=tenant, roots=roots))


def mark(
    *,
    using: str,
    tenant: str,
    marks: Iterable[tuple[str, str]],
    reason: TombstoneReason,
    actor: Actor,
    at: dt.datetime,
) -> None:
    """Put a tombstone on each ref, because of the root beside it. One query.

    What is never lifted and may be much names the nearest root alone: a thread of which
    each turn derives from the one before would else take a tombstone for each pair.
    """
    stones = [
        {
            "target_ref": ref,
            "root_ref": root,
            "reason": reason.value,
            "hold": False,
            "actor": actor.name,
        }
        for ref, root in marks
    ]
    _put(using, tenant, stones, at)


def mark_derived(
    *,
    using: str,
    tenant: str,
    roots: Sequence[str],
    reason: TombstoneReason,
    actor: Actor,
    at: dt.datetime,
    hold: bool = False,
    supersedes: str = "",
) -> list[str]:
    """Put a tombstone on each root and on all derived from it; return the new targets.

    Without a limit: what others derived must not keep its owner from revoking it. One
    query. A target that several roots block is named once.
    """
    given = {
        "tenant": tenant,
        "roots": list(roots),
        "reason": reason.value,
        "hold": hold,
        "supersedes": supersedes,
        "actor": actor.name,
        "at": at,
    }
    rows = queries.fetch(using, named("lineage")["mark_derived"], given)
    return list(dict.fromkeys(row["target_ref"] for row in rows))


def inherit(
    *, using: str, tenant: str, record_ids: Sequence[uuid.UUID], at: dt.datetime
) -> int:
    """Block records, and all derived from them, by what blocks their sources.

    What is written after a revocation hides as what was there before, and comes back
    with it. Returns how many tombstones are new. One query, two where any is found.
    """
    given = {"tenant": tenant, "record_ids": list(record_ids)}
    stones = queries.fetch(using, named("lineage")["inherited"], given)
    return _put(using, tenant, stones, at) if stones else 0


def mark_born_hidden(
    *,
    using: str,
    tenant: str,
    record_ids: Collection[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
    reason: TombstoneReason = TombstoneReason.REVOKED,
) -> None:
    """Put on new records what a revocation would: nothing derives from them yet.

    One query.

    Args:
        reason: Or what the gate would.
    """
    stones = [
        {
            "target_ref": record_ref(record_id),
            "root_ref": record_ref(record_id),
            "reason": reason.value,
            "hold": False,
            "actor": actor.name,
        }
        for record_id in record_ids
    ]
    _put(using, tenant, stones, at)


def lift_left(
    *,
    using: str,
    tenant: str,
    record_ids: Collection[uuid.UUID],
    at: dt.datetime,
    reasons: Collection[TombstoneReason] = (TombstoneReason.CORRECTED,),
) -> int:
    """Lift from records what blocked them because of what they derive from no more.

    Not from what is derived from them: nobody has written that anew. One query.
    """
    given = {
        "tenant": tenant,
        "record_ids": list(record_ids),
        "at": at,
        "reasons": [reason.value for reason in reasons],
    }
    return queries.execute(using, named("lineage")["lift_left"], given)


def _put(
    using: str, tenant: str, stones: Sequence[Mapping[str, Any]], at: dt.datetime
) -> int:
    given = {
        "tenant": tenant,
        "at": at,
        "ids": [uuid7() for _ in stones],
        "target_refs": [stone["target_ref"] for stone in stones],
        "root_refs": [stone["root_ref"] for stone in stones],
        "reasons": [stone["reason"] for stone in stones],
        "holds": [stone["hold"] for stone in stones],
        "actors": [stone["actor"] for stone in stones],
    }
    return queries.execute(using, named("lineage")["mark"], given)


def lift_holds(
    *, using: str, tenant: str, roots: Sequence[str], at: dt.datetime
) -> list[str]:
    """Lift the holds that forgetting these roots placed; return on what.

    One query. Those that another root placed on the same stand.
    """
    given = {"tenant": tenant, "roots": list(roots), "at": at}
    rows = queries.fetch(using, named("lineage")["lift_holds"], given)
    return sorted({row["target_ref"] for row in rows})


def lift(
    *, using: str, tenant: str, root: str, reason: TombstoneReason, at: dt.datetime
) -> int:
    """Lift what ``root`` blocked for ``reason``, never a hold. One query."""
    given = {"tenant": tenant, "root_ref": root, "reason": reason.value, "at": at}
    return queries.execute(using, named("lineage")["lift"], given)
