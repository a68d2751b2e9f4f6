"""Why a hit is where it is, and where it comes from; never its words."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from psycopg import sql

from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.recall.items import moment
from prism_memory.recall.sharing import own_hits
from prism_memory.types import Explanation, Hit, TombstoneReason

COMPONENTS: Final = ("similarity", "recency", "importance")


def explain(
    *,
    using: str,
    reader: Reader,
    hits: Sequence[Hit],
    weights: Mapping[str, float],
    strategy: str,
    shared: Reader | None = None,
) -> tuple[Explanation, ...]:
    """Return why each hit is where it is, in their order.

    A hit that went out of sight meanwhile is left out, and the others keep their rank.
    One query; none without hits.

    Args:
        hits: Best first.
        weights: What each leg counted.
        strategy: How the vector leg looked.
        shared: Who reads what another thread shares: a query more where any is hit.
    """
    own = own_hits(hits, shared)
    rows = _rows(using, reader, own)
    lent = {hit.id for hit in hits} - {hit.id for hit in own}
    if shared is not None:
        rows |= _rows(using, shared, [hit for hit in hits if hit.id in lent])
    return tuple(
        Explanation(
            **_ranking(hit, rank),
            **_origin(hit, rows[hit.id]),
            strategy=strategy,
            weights=dict(weights),
            shared_from=hit.scope.thread if hit.id in lent else None,
        )
        for rank, hit in enumerate(hits, start=1)
        if hit.id in rows
    )


def _rows(
    using: str, reader: Reader, hits: Sequence[Hit]
) -> dict[uuid.UUID, Mapping[str, Any]]:
    if not hits:
        return {}
    statement = _statement(reader.condition().as_string(None))
    given = {**reader.parameters(), "hit_ids": [hit.id for hit in hits]}
    return {row["id"]: row for row in queries.fetch(using, statement, given)}


def _ranking(hit: Hit, rank: int) -> dict[str, Any]:
    signals = hit.signals
    return {
        "id": hit.id,
        "rank": rank,
        "score": hit.score,
        "method": hit.method,
        "ranks": dict(hit.ranks),
        "signals": dict(signals),
        "components": {name: signals[name] for name in COMPONENTS if name in signals},
    }


def _origin(hit: Hit, row: Mapping[str, Any]) -> dict[str, Any]:
    stone = row["reason"]
    return {
        "source_refs": tuple(row["refs"]),
        # Nothing says why but what the record is and who vouches for it.
        "lineage_reason": f"{hit.kind} by {hit.trust}" if row["refs"] else "",
        "tombstone": stone and (TombstoneReason(stone), moment(row["at"])),
        "created_at": hit.created_at,
        "scope": hit.scope,
    }


@lru_cache(maxsize=64)
def _statement(visible: str) -> str:
    return composed("around", "explain", visible=sql.SQL(visible))
