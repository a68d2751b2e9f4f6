"""What restricted documents records draw upon: that outlives the documents' words."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence

from prism_memory.access import drawn, restricts
from prism_memory.db import queries
from prism_memory.db.queries import composed, named


def restricting(
    *, using: str, tenant: str, ids: Collection[uuid.UUID]
) -> list[tuple[uuid.UUID, uuid.UUID]]:
    """Return the restricted sources that records draw upon, however far. One query.

    Pairs of a record's id and a source's; also of one that is gone.
    """
    statement = composed("lineage", "restricting", drawn=drawn(), restricts=restricts())
    given = {"tenant": tenant, "record_ids": list(ids)}
    rows = queries.fetch(using, statement, given)
    return [(row["record_id"], row["source_id"]) for row in rows]


def keep_restricted(
    *, using: str, tenant: str, drawing: Sequence[tuple[uuid.UUID, uuid.UUID]]
) -> None:
    """Note that records draw upon sources, whatever becomes of those. One query.

    None without any.

    Args:
        drawing: Pairs of a record's id and a source's.
    """
    if drawing:
        given = {
            "tenant": tenant,
            "record_ids": [record_id for record_id, _ in drawing],
            "source_ids": [source_id for _, source_id in drawing],
        }
        queries.execute(using, named("lineage")["keep_restricted"], given)


def keep_through(
    *, using: str, tenant: str, links: Sequence[tuple[uuid.UUID, uuid.UUID]]
) -> None:
    """Note what records draw upon through others that they are about to lose.

    One query, or two.

    Args:
        links: Pairs of a record's id and of one that it derives from.
    """
    lost = {source for _, source in links}
    sources: dict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    for record_id, source_id in restricting(using=using, tenant=tenant, ids=lost):
        sources[record_id].append(source_id)
    found = sorted({(one, place) for one, source in links for place in sources[source]})
    keep_restricted(using=using, tenant=tenant, drawing=found)
