"""What stands near a claim, by the vector leg of recall; and what that lacked."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from prism_memory.access import Reader
from prism_memory.errors import EmbedderMismatch
from prism_memory.indexing import Space
from prism_memory.recall import VectorLeg
from prism_memory.recall.candidates import find
from prism_memory.recall.intact import only_intact
from prism_memory.types import Kind, ReadMode, Vector

LOOKED_AT: Final = 16
"""Neighbours that are found; of some the principal or the state may not fit."""

UNEMBEDDED: Final = "some facts have no vector yet"

COMPARED: Final = 5
"""Neighbours that a claim is compared with. Source: S3."""


@dataclass(frozen=True)
class Near:
    """What was found near a claim, before its transaction.

    Args:
        cosines: Raw, -1..1, by fact.
        vector: The claim's own, unit length; None where nothing embedded it.
        space: Of the vector.
        degraded: Why neighbours may be missing, or ``""`` (B343).
    """

    cosines: Mapping[uuid.UUID, float] = field(default_factory=dict)
    vector: Vector | None = None
    space: Space | None = None
    degraded: str = ""


def nearest(*, using: str, reader: Reader, space: Space, vector: Vector) -> Near:
    """Return the facts nearest to a vector, with their raw cosines.

    Of exactly the reader's scope, and such that a reader of now sees: a claim neither
    repeats nor replaces what is above it. Costs what the statement of recall does.

    Raises:
        EmbedderMismatch: The space is not the active one any more.
    """
    here = replace(
        reader,
        mode=ReadMode.EXACT,
        kinds=[Kind.FACT],
        include_quarantined=False,
        include_superseded=False,
        include_retired=False,
    )
    found = find(
        using=using,
        reader=here,
        query="",
        leg=VectorLeg(space.id, space.identity.dimensions, space.indexed, vector),
        rows=LOOKED_AT,
        legs=("vector",),
        beside=False,
    )
    if not found.current:
        raise EmbedderMismatch
    rows = only_intact(using, here, found).rows
    return Near(
        cosines={uuid.UUID(key): row["cosine"] for key, row in rows.items()},
        vector=vector,
        space=space,
        degraded=UNEMBEDDED if found.waiting else "",
    )
