"""A vector that was made before the write is kept, so that no worker makes it again."""

from __future__ import annotations

import datetime as dt

from prism_memory.facts.candidates import Placed
from prism_memory.indexing.claims import Claimed, Queue, write
from prism_memory.lifecycle.entries import Row
from prism_memory.types import Scope


def write_vector(
    *, using: str, scope: Scope, row: Row, placed: Placed, at: dt.datetime
) -> None:
    """Take a fact off the queue with the vector that its neighbours were found by.

    Two queries; none without a vector. In the transaction that queued it.
    """
    if placed.vector is None or placed.space is None:
        return
    item = Claimed(
        record_id=row.id,
        sha256=row.embed_sha256,
        attempts=0,
        claimed_until=at,
        text=row.embed_text or row.entry.text,
    )
    write(Queue(using, scope.tenant, placed.space), [(item, placed.vector)])
