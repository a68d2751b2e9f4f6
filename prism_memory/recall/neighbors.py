"""What is near a text, by cosine alone: no words, no fusion, nothing around."""

from __future__ import annotations

import uuid
from dataclasses import replace

from prism_memory.access import Reader
from prism_memory.errors import EmbedderMismatch
from prism_memory.recall.candidates import VectorLeg, find
from prism_memory.recall.intact import only_intact
from prism_memory.types import Neighbor


def neighbors(
    *, using: str, reader: Reader, leg: VectorLeg, top_k: int
) -> tuple[Neighbor, ...]:
    """Return the records nearest to a vector, nearest first (B384).

    What the gate holds back is among them: who decides whether something is new must
    see what waits for a decision too. Everything else that hides a record hides it
    here. None where there is no vector, or no space to look in. Costs what the
    statement of recall does.

    Args:
        leg: The space, and the text's vector in it.

    Raises:
        EmbedderMismatch: The space is not the active one any more.
    """
    if leg.vector is None or not leg.space_id or top_k < 1:
        return ()
    seeing = replace(reader, include_quarantined=True)
    found = find(
        using=using,
        reader=seeing,
        query="",
        leg=leg,
        rows=top_k,
        legs=("vector",),
        beside=False,
    )
    if not found.current:
        raise EmbedderMismatch
    found = only_intact(using, reader, found)
    near = sorted(found.rows.values(), key=lambda row: int(row["vector_rank"]))
    return tuple(Neighbor(uuid.UUID(row["record_id"]), row["cosine"]) for row in near)
