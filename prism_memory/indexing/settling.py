"""Note which documents have all their vectors now."""

from __future__ import annotations

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.indexing.claims import Queue


def settle_sources(queue: Queue) -> int:
    """Mark documents as indexed that wait no longer; return how many.

    One query, and one for each. Only a note, so that lists need not count: what waits
    is counted anew by whoever asks for one source.
    """
    sql = named("indexing")
    done = queries.fetch(queue.using, sql["unsettled_sources"], queue.place)
    for row in done:
        given = {
            "tenant": queue.tenant,
            "source_id": row["id"],
            "ingested_at": row["ingested_at"],
        }
        queries.execute(queue.using, sql["settle_source"], given)
    return len(done)
