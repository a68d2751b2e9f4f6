"""The vector leg: an exact scan of the scopes in sight, or an index of vectors."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from psycopg import sql

from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.db.queries import named, vector_text
from prism_memory.recall.candidates.plan import Leg, Plan
from prism_memory.types import Vector

HNSW_EF_SEARCH: Final = 1_000
"""Candidates that an index scan keeps, pgvector's most. With 200, one neighbour in
forty was missed in a half of 200,000 vectors; the time goes elsewhere."""

ANY_SIZE: Final = 2**62
"""More vectors than any scope holds: always scan exactly, and sort them all."""

LOOKED_AT: Final = 3
"""For each candidate wanted, so many of the nearest are sorted and looked at first."""


Nearest = Callable[
    [Collection[uuid.UUID], Vector, int, float | None], Sequence[uuid.UUID]
]
"""Names the records nearest to a vector: of some scopes, so many, within seconds."""


@dataclass(frozen=True)
class External:
    """An index of vectors outside PostgreSQL.

    Args:
        name: What its copies are accounted for under.
        nearest: Asks it. Raises ProviderUnavailable or ProviderRejected.
    """

    name: str
    nearest: Nearest


@dataclass(frozen=True)
class VectorLeg:
    """What the vector leg compares.

    Args:
        space_id: The active space, whose id is a constant of its partial index.
        dimensions: Width of the space.
        indexed: The space has an HNSW index.
        vector: The query, unit length; None to leave the leg out.
        external: Names the candidates, in place of a scan; None: PostgreSQL does.
    """

    space_id: int = 0
    dimensions: int = 1
    indexed: bool = False
    vector: Vector | None = None
    external: External | None = None


def parameters(
    leg: VectorLeg,
    *,
    exact_rows: int,
    look: int,
    named: Sequence[uuid.UUID] | None = None,
) -> dict[str, Any]:
    """Return the values that the leg's statement is given.

    Args:
        exact_rows: Vectors up to which an exact scan answers.
        look: The nearest that an exact scan sorts.
        named: What an external index gave.
    """
    given = {} if named is None else {"named": list(named)}
    return {
        **given,
        "index": "" if leg.external is None else leg.external.name,
        "vector": None if leg.vector is None else vector_text(leg.vector),
        "exact_rows": exact_rows,
        "look": look,
    }


def narrowed(reader: Reader) -> sql.Composable:
    """Return what an index says of the rows that the reader's narrowing leaves."""
    if reader.ids is not None:
        return sql.SQL("embedding.record_id = ANY(%(ids)s::uuid[])")
    narrowing = reader.narrowing()
    if narrowing is None:
        return sql.SQL("TRUE")
    return sql.SQL(named("recall")["narrowed"]).format(narrowing=narrowing[0])


def index_settings() -> dict[str, str]:
    """Return what PostgreSQL must be told for a scan of the index."""
    return {
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.ef_search": str(HNSW_EF_SEARCH),
        "hnsw.max_scan_tuples": str(settings.HNSW_MAX_SCAN_TUPLES),
    }


def parts(plan: Plan) -> tuple[str, ...]:
    """Return the parts of the statement: how the nearest are found."""
    if plan.external:
        return ("near_external",)
    return ("near_index",) if plan.index else ("near_exact",)


LEG: Final = Leg(gives="near", parts=parts)
