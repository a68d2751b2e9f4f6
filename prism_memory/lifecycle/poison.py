"""What the gate holds back does not flow on: what is derived from it is blocked too.

Whoever opens or closes a gate has the tenant's lineage to itself; what is new blocks
nothing yet, and needs no more than its own tombstone.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from typing import Any

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.lifecycle.removal import announce_invalidation
from prism_memory.lifecycle.tombstones import mark_derived
from prism_memory.types import Actor, TombstoneReason, record_ref

REASON = TombstoneReason.QUARANTINED


def block_derived(
    *,
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
) -> int:
    """Block what is derived from records behind the gate; return how many refs.

    Two queries at most, and the host is told.
    """
    given: dict[str, Any] = {"using": using, "tenant": tenant, "reason": REASON}
    roots = [record_ref(record_id) for record_id in sorted(ids)]
    marked = mark_derived(**given, roots=roots, actor=actor, at=at)
    announce_invalidation(**given, refs=marked)
    return len(marked)


def unblock_derived(
    *, using: str, tenant: str, ids: Collection[uuid.UUID], at: dt.datetime
) -> None:
    """Lift what records blocked while the gate held them back. One query."""
    given = {
        "tenant": tenant,
        "roots": [record_ref(record_id) for record_id in ids],
        "reason": REASON.value,
        "at": at,
    }
    queries.execute(using, named("lineage")["lift_roots"], given)
