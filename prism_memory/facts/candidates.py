"""What stands near a claim, by the vector leg of recall; and what that lacked."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from prism_memory.access import Reader
from prism_memory.indexing import Space
from prism_memory.recall import VectorLeg
from prism_memory.recall.candidates import find
from prism_memory.recall.intact import only_intact
from prism_memory.types import Kind, ReadMode, Vector

LOOKED_AT: Final = 16
"""Neighbours that are found; of some the principal or the state may not fit."""

COMPARED: Final = 5
"""Neighbours that a claim is compared with. Source: S3."""

LEEWAY: Final = dt.timedelta(minutes=1)
"""So far ahead may the clock of who wrote just before be; what they wrote holds now."""

UNEMBEDDED: Final = "some facts have no vector yet"
MISMATCHED: Final = "the stored vectors are another embedder's"


@dataclass(frozen=True)
class Placed:
    """Where a claim lies among vectors: found before its transaction, by a provider.

    Args:
        vector: Unit length; None where nothing embedded the claim.
        space: Of the vector.
        degraded: Why there is none, or ``""`` (B343).
    """

    vector: Vector | None = None
    space: Space | None = None
    degraded: str = ""


@dataclass(frozen=True)
class Near:
    """What is near a claim.

    Args:
        cosines: Raw, -1..1, by fact.
        degraded: Why neighbours may be missing, or ``""``.
    """

    cosines: Mapping[uuid.UUID, float] = field(default_factory=dict)
    degraded: str = ""


def nearest(*, using: str, reader: Reader, placed: Placed, at: dt.datetime) -> Near:
    """Return the facts nearest to a claim that hold now, with their raw cosines.

    Of exactly the reader's scope, and such that the reader sees: a claim neither
    repeats nor replaces what is above it. No query without a vector, else what the
    statement of recall costs.
    """
    if placed.vector is None or placed.space is None:
        return Near(degraded=placed.degraded)
    space = placed.space
    here = seeing(reader, at, waiting=False)
    found = find(
        using=using,
        reader=here,
        query="",
        leg=VectorLeg(
            space.id, space.identity.dimensions, space.indexed, placed.vector
        ),
        rows=LOOKED_AT,
        legs=("vector",),
        beside=False,
    )
    if not found.current:
        return Near(degraded=MISMATCHED)
    rows = only_intact(using, here, found).rows
    return Near(
        cosines={uuid.UUID(key): row["cosine"] for key, row in rows.items()},
        degraded=UNEMBEDDED if found.waiting else "",
    )


def seeing(reader: Reader, at: dt.datetime, *, waiting: bool) -> Reader:
    """Return who sees facts of exactly the reader's scope, as they are when it writes.

    Args:
        waiting: Also those that the gate holds back, and of any time.
    """
    return replace(
        reader,
        mode=ReadMode.EXACT,
        kinds=[Kind.FACT],
        at=at,
        as_of=None if waiting else at + LEEWAY,
        include_superseded=waiting,
        include_quarantined=waiting,
        include_retired=False,
    )
