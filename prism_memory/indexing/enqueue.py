"""Queue what has no vector in the active space yet.

Records get their place in the queue when they are written, in the spaces that exist
then. What was written before an embedder was configured, or under another alias, is
queued from here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.indexing.spaces import Space
from prism_memory.types import NIL

PAGE_ROWS: Final = 1_000


def enqueue_missing(
    *,
    using: str,
    tenant: str,
    space: Space,
    progress: Callable[[int], None] | None = None,
) -> int:
    """Queue a tenant's records that the space does not know; return how many.

    One query for every thousand records. Safe to repeat, and beside writers.

    Args:
        progress: Called after each page with how many were queued so far.
    """
    return _paged("enqueue_missing", using, tenant, space, progress)


def requeue_stale(*, using: str, tenant: str, space: Space) -> int:
    """Queue anew what is of another text than its record has; return how many.

    One query for every thousand vectors. Their vectors go: until the new ones are made
    the records are found by their words.
    """
    return _paged("requeue_stale", using, tenant, space)


def _paged(
    name: str,
    using: str,
    tenant: str,
    space: Space,
    progress: Callable[[int], None] | None = None,
) -> int:
    after, queued = NIL, 0
    while True:
        given = {
            "tenant": tenant,
            "space_id": space.id,
            "after": after,
            "rows": PAGE_ROWS,
        }
        (row,) = queries.fetch(using, named("indexing")[name], given)
        if row["last"] is None:
            return queued
        after, queued = row["last"], queued + row["made"]
        if progress:
            progress(queued)
