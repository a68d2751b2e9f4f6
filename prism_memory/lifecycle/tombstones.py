"""Mark what may no longer be used, with all that is derived from it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import LimitExceeded
from prism_memory.types import Actor, TombstoneReason, uuid7

MOST_DISTANCE: Final = 8
MOST_REFS: Final = 256
"""Source: S0; distance is that of the graph, from the nearest root (B158, B160)."""


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


def mark(
    *,
    using: str,
    tenant: str,
    root: str,
    refs: Sequence[str],
    reason: TombstoneReason,
    actor: Actor,
    at: dt.datetime,
) -> int:
    """Put a tombstone on each ref; return how many are new. One query."""
    given = {
        "tenant": tenant,
        "ids": [uuid7() for _ in refs],
        "target_refs": list(refs),
        "root_ref": root,
        "reason": reason.value,
        "hold": False,
        "actor": actor.name,
        "at": at,
    }
    return queries.execute(using, named("lineage")["mark"], given)


def lift(
    *, using: str, tenant: str, root: str, reason: TombstoneReason, at: dt.datetime
) -> int:
    """Lift what ``root`` blocked for ``reason``, never a hold. One query."""
    given = {"tenant": tenant, "root_ref": root, "reason": reason.value, "at": at}
    return queries.execute(using, named("lineage")["lift"], given)
