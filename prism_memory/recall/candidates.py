"""Ask both legs, in one statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from django.db import transaction
from psycopg import sql

from prism_memory.access import Reader, unwithheld
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import composed, vector_text
from prism_memory.types import Vector

BM25_K1: Final = 0.9
BM25_B: Final = 0.4
"""Source: Trotman, Puurula & Burgess, ADCS 2014: the best k1 and b over collections."""

HNSW_EF_SEARCH: Final = 1_000
"""Candidates that an index scan keeps, pgvector's most. With 200, one neighbour in
forty was missed in a half of 200,000 vectors; the time goes elsewhere."""

ANY_SIZE: Final = 2**62
"""More vectors than any scope holds: always scan exactly."""

LARGE_PLACES: Final = 10_000
"""Most places whose size one process remembers."""


@dataclass(frozen=True)
class VectorLeg:
    """What the vector leg compares.

    Args:
        space_id: The active space, whose id is a constant of its partial index.
        dimensions: Width of the space.
        indexed: The space has an HNSW index.
        vector: The query, unit length; None to leave the leg out.
    """

    space_id: int = 0
    dimensions: int = 1
    indexed: bool = False
    vector: Vector | None = None


def find(
    *, using: str, reader: Reader, query: str, leg: VectorLeg, rows: int
) -> list[dict[str, Any]]:
    """Return up to ``rows`` visible candidates of each leg, with their records.

    One query. Where more vectors are in sight than an exact scan should read, the HNSW
    index is asked, with two more to set and put back its settings; that a place is
    large is learnt by asking, so the first time costs one more.

    The result has at least one row, which holds no record when nothing was found.
    """
    may_be_large = leg.indexed and leg.vector is not None
    given = {
        **reader.parameters(),
        "query": query,
        "languages": search_languages(),
        "vector": None if leg.vector is None else vector_text(leg.vector),
        "exact_rows": settings.EXACT_SCAN_ROWS if may_be_large else ANY_SIZE,
        "rows": rows,
        "k1": BM25_K1,
        "b": BM25_B,
    }
    visible = reader.condition().as_string(None)
    place = (using, leg.space_id, reader.scope, reader.mode)
    if not may_be_large or place not in _large:
        exact = _statement("nearest_exact", visible, leg.space_id, leg.dimensions)
        found = queries.fetch(using, exact, given)
        if not found[0]["large"]:
            return found
    index = _statement("nearest_index", visible, leg.space_id, leg.dimensions)
    with _index_settings(using):
        found = queries.fetch(using, index, given)
    _remember_size(place, large=found[0]["large"])
    return found


_large: dict[tuple[Any, ...], None] = {}
"""Places that an exact scan would read too much of, as last seen by this process."""


def _remember_size(place: tuple[Any, ...], *, large: bool) -> None:
    if len(_large) > LARGE_PLACES:
        _large.clear()
    if large:
        _large[place] = None
    else:
        _large.pop(place, None)


@lru_cache(maxsize=64)
def _statement(nearest: str, visible: str, space_id: int, dimensions: int) -> str:
    parts: dict[str, sql.Composable | int] = {
        "visible": sql.SQL(visible),
        "space_id": space_id,
    }
    text = composed("recall", nearest, dimensions=dimensions, **parts)
    parts["unwithheld"] = unwithheld()
    return composed("recall", "recall", nearest=sql.SQL(text), **parts)


def search_languages() -> list[str]:
    """Return the text search configurations a question is read in."""
    languages = settings.SEARCH_LANGUAGES or (settings.LANGUAGE, "simple")
    return list(dict.fromkeys(languages))


@contextmanager
def _index_settings(using: str) -> Iterator[None]:
    """Set what an index scan needs for this call alone.

    A local setting ends with the transaction. In one of our own that is right away; in
    the host's it would outlive this call, even after a savepoint, so it is put back.
    """
    hosted = transaction.get_connection(using).in_atomic_block
    with transaction.atomic(using=using):
        before = _set(using, _wanted_settings())
        yield
        if hosted:
            _set(using, before)


def _wanted_settings() -> dict[str, str | None]:
    return {
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.ef_search": str(HNSW_EF_SEARCH),
        "hnsw.max_scan_tuples": str(settings.HNSW_MAX_SCAN_TUPLES),
    }


def _set(using: str, values: dict[str, str | None]) -> dict[str, str | None]:
    names: Sequence[str] = list(values)
    statement = (
        "SELECT "
        + ", ".join("current_setting(%s, true)" for _ in names)
        + ", "
        + ", ".join("set_config(%s, %s, true)" for _ in names)
    )
    pairs = [part for name in names for part in (name, values[name])]
    with transaction.get_connection(using).cursor() as cursor:
        cursor.execute(statement, [*names, *pairs])
        row = cursor.fetchone()
    return dict(zip(names, row[: len(names)], strict=True))
