"""What every external index of vectors must do; run it against your own.

.. code-block:: python

    from prism_memory.testing.external_indexes import check_external_index


    def test_my_index_conforms():
        check_external_index(lambda: MyIndex(url=...), recall=0.99)

The rules are those of ``vector_indexes``, asked of one place of the index, and some on
places, scopes and names. Needs NumPy, which the extra ``local`` brings.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Sequence
from typing import Final

from prism_memory.backends import Place, Stored, VectorIndex, nearest
from prism_memory.backends.base import unit_vector
from prism_memory.testing import vector_indexes
from prism_memory.testing.pages import Demand, made
from prism_memory.testing.requiring import require
from prism_memory.types import NAME_BYTES, Vector

__all__ = ["RULES", "OnePlace", "check_external_index"]

SECONDS: Final = 30.0

Factory = Callable[[], VectorIndex]
"""Makes an index; other places of it may hold something."""


def check_external_index(
    factory: Factory, *, dimensions: int = 16, recall: float = 1.0, rows: int = 2_000
) -> None:
    """Check an index against every rule (B481).

    Args:
        factory: Makes it.
        dimensions: Of the vectors, 8 or more.
        recall: Least share of the exact neighbours that it finds.
        rows: Rows of the large place, 1,000 or more.

    Raises:
        AssertionError: A rule does not hold; the text says which and how.
    """
    demand = Demand(recall, rows=rows)
    for rule in vector_indexes.RULES:
        rule(lambda: OnePlace(factory(), dimensions), demand)
    for own in RULES:
        own(factory, dimensions)


class OnePlace:
    """A new place of an external index, as ``vector_indexes`` asks for an index."""

    def __init__(self, index: VectorIndex, dimensions: int) -> None:
        self.dimensions = dimensions
        self.index = index
        self.place = Place(f"test {uuid.uuid4()}", 1)
        self._names: dict[uuid.UUID, str] = {}
        self._units: dict[uuid.UUID, list[float]] = {}

    def add(
        self, ids: Sequence[str], scopes: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        units = [self._unit(vector) for vector in vectors]
        rows = [
            Stored(self._id(i), scope_of(scope), unit)
            for i, scope, unit in zip(ids, scopes, units, strict=True)
        ]
        self._names |= {self._id(i): i for i in ids}
        self._units |= {row.record_id: [*row.vector] for row in rows}
        self.index.upsert(self.place, rows)

    def search(self, scope: str, query: Vector, k: int) -> list[tuple[str, float]]:
        unit = self._unit(query)
        if k == 0:
            return []  # recall never asks for none
        found = ids_of(self.index, self.place, unit, [scope], k)
        cosines = [(self._names[i], dot(unit, self._units[i])) for i in found]
        # Recall measures what it is named itself: only which they are counts.
        return sorted(cosines, key=lambda hit: -hit[1])

    def remove(self, ids: Sequence[str]) -> None:
        self.index.delete(self.place, [self._id(i) for i in ids])

    def _id(self, name: str) -> uuid.UUID:
        return uuid.uuid5(uuid.NAMESPACE_OID, f"{self.place.tenant} {name}")

    def _unit(self, vector: Vector) -> list[float]:
        # As the app does, before any index sees a vector.
        return unit_vector(vector, "a vector", self.dimensions)


def keeps_places_apart(factory: Factory, dimensions: int) -> None:
    """Another tenant, and another space of the same one, see nothing of each other."""
    index, (query,) = factory(), units(dimensions, 1, seed=11)
    tenants = [f"test {uuid.uuid4()}" for _ in range(2)]
    places = [Place(tenants[0], 1), Place(tenants[0], 2), Place(tenants[1], 1)]
    ids = [uuid.uuid4() for _ in places]
    for place, i in zip(places, ids, strict=True):
        index.upsert(place, [Stored(i, scope_of("a"), query)])
    for place, i in zip(places, ids, strict=True):
        found = ids_of(index, place, query, ["a"], 5)
        require(found == [i], f"a place of another's shows {found}")
    index.delete(places[0], ids)
    for place, i in zip(places[1:], ids[1:], strict=True):
        found = ids_of(index, place, query, ["a"], 5)
        require(found == [i], "a deletion reached another place")


def searches_several_scopes(factory: Factory, dimensions: int) -> None:
    """All of the scopes that are named, and no other."""
    index, rows = factory(), units(dimensions, 30, seed=12)
    place, scopes = Place(f"test {uuid.uuid4()}", 1), ["a", "ab", "c"] * 10
    stored = [
        Stored(uuid.uuid4(), scope_of(scope), row)
        for scope, row in zip(scopes, rows, strict=True)
    ]
    index.upsert(place, stored)
    for wanted in (["a"], ["a", "c"], ["a", "ab", "c", "d"]):
        found = ids_of(index, place, rows[0], wanted, 50)
        own = {row.record_id for row in stored if row.scope_id in map(scope_of, wanted)}
        require({*found} == own, f"of the scopes {wanted} {len(found)} rows came")


def replaces_what_stands(factory: Factory, dimensions: int) -> None:
    """The same id again: another vector and another scope, and only once."""
    index, (first, second) = factory(), units(dimensions, 2, seed=13)
    place, i, other = Place(f"test {uuid.uuid4()}", 1), uuid.uuid4(), uuid.uuid4()
    index.upsert(place, [Stored(i, scope_of("a"), first)])
    index.upsert(place, [Stored(other, scope_of("b"), first)])
    index.upsert(place, [Stored(i, scope_of("b"), second)])
    require(ids_of(index, place, first, ["a"], 5) == [], "it stayed in its old scope")
    found = ids_of(index, place, second, ["a", "b"], 5)
    require(found == [i, other], "the new vector does not stand in place of the old")
    index.delete(place, [i])
    index.delete(place, [i, uuid.uuid4()])
    require(ids_of(index, place, second, ["a", "b"], 5) == [other], "it came back")


def has_a_name(factory: Factory, dimensions: int) -> None:
    """The same at each call, and one that can be stored."""
    del dimensions
    index = factory()
    name: object = index.name
    require(isinstance(name, str), "the name is no text")
    require(1 <= len(index.name.encode()) <= NAME_BYTES, "the name is of no length")
    require(index.name == name, "the name changes")


def ids_of(
    index: VectorIndex, place: Place, query: Vector, scopes: Sequence[str], k: int
) -> list[uuid.UUID]:
    ids = [scope_of(scope) for scope in scopes]
    return nearest(index, place, query, scope_ids=ids, k=k, timeout_seconds=SECONDS)


def scope_of(name: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, name)


def units(dimensions: int, count: int, *, seed: int) -> list[list[float]]:
    rows = made(dimensions, count, seed=seed)
    return [unit_vector(row, "a vector", dimensions) for row in rows]


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


RULES: Final[tuple[Callable[[Factory, int], None], ...]] = (
    has_a_name,
    keeps_places_apart,
    searches_several_scopes,
    replaces_what_stands,
)
"""The rules beside those of ``vector_indexes``."""
