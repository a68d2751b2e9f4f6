"""From chosen rows to hits."""

from __future__ import annotations

from typing import Any

from prism_memory.recall.choosing import Chosen
from prism_memory.recall.items import item_fields
from prism_memory.recall.ranking import Pool, Row
from prism_memory.types import Hit, Scope


def pack(chosen: Chosen, pool: Pool, tenant: str) -> tuple[Hit, ...]:
    """Return the hits, best first."""
    return tuple(_hit(i, chosen, pool, tenant) for i in chosen.ids)


def _hit(record_id: str, chosen: Chosen, pool: Pool, tenant: str) -> Hit:
    row = pool.rows[record_id]
    ranks = {
        leg: found[record_id] for leg, found in pool.ranks.items() if record_id in found
    }
    return Hit(
        **item_fields(row, Scope(tenant, row["owner"], row["agent"], row["thread"])),
        score=chosen.scores[record_id],
        method=_method(ranks),
        cosine=row["cosine"],
        bm25=row["bm25"],
        ranks=ranks,
        signals={**measured(row), **chosen.signals[record_id]},
    )


def _method(ranks: dict[str, int]) -> str:
    """Return the leg that found it; ``hybrid`` for several, ``context`` for none."""
    legs = {leg.partition(".")[0] for leg in ranks}
    return "hybrid" if len(legs) > 1 else next(iter(legs), "context")


def measured(row: Row) -> dict[str, Any]:
    """Return what the legs measured."""
    told = row.get("entity")
    scores = {"vector": row["cosine"], "bm25": row["bm25"], "entity": told}
    return {name: score for name, score in scores.items() if score is not None}
