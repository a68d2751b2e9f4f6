"""From chosen rows to hits."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from prism_memory.recall.choosing import Chosen
from prism_memory.recall.items import item_fields
from prism_memory.recall.ranking import Pool, Row
from prism_memory.types import Hit, Scope

CHARACTERS_PER_TOKEN: Final = 4
"""Source: the estimate of S0, rounded up for each text."""


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


def fitting(
    hits: Sequence[Hit],
    *,
    max_bytes: int | None,
    max_tokens: int | None,
    mask: Callable[[str], str] = str,
) -> tuple[Hit, ...]:
    """Return the best hits that fit; none after the first that does not (B229).

    Args:
        max_bytes: Of all, UTF-8 of words and metadata; any when None.
        max_tokens: Of all, characters / 4 of the words; any when None.
        mask: Takes secrets out, as whoever gets the hits sees them.
    """
    octets, tokens = 0, 0
    for place, hit in enumerate(hits):
        text = mask(hit.text)
        octets += len(text.encode()) + metadata_bytes(hit, mask)
        tokens += -(-len(text) // CHARACTERS_PER_TOKEN)
        if octets > (max_bytes or octets) or tokens > (max_tokens or tokens):
            return tuple(hits[:place])
    return tuple(hits)


def metadata_bytes(hit: Hit, mask: Callable[[str], str]) -> int:
    """Return the bytes of a hit's metadata as compact JSON; 0 of none."""
    if not hit.metadata:
        return 0
    text = json.dumps(hit.metadata, ensure_ascii=False, separators=(",", ":"))
    return len(mask(text).encode())
