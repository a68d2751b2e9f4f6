"""An external index in the memory of one process: for tests and as an oracle (B113)."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Collection, Sequence
from typing import Any, Final

from prism_memory.backends.loading import load, require
from prism_memory.backends.vector_index import Place, Stored, VectorIndex
from prism_memory.types import Vector

Rows = dict[uuid.UUID, tuple[uuid.UUID, list[float]]]
"""Scope and vector by record."""

_HELD: Final = threading.RLock()


class NumpyVectors(VectorIndex):
    """Look at every vector of the scopes: exact, and gone with the process.

    Raises:
        Misconfigured: NumPy is not installed.
    """

    def __init__(self) -> None:
        require("numpy", extra="local")
        self._name = f"numpy:{uuid.uuid4()}"
        self._places: dict[Place, Rows] = {}

    @property
    def name(self) -> str:
        """Another one in each process: none finds what is in another's memory."""
        return self._name

    def upsert(self, place: Place, rows: Sequence[Stored]) -> None:
        """Store vectors. See ``VectorIndex``."""
        taken: Rows = {row.record_id: (row.scope_id, [*row.vector]) for row in rows}
        with _HELD:
            self._places.setdefault(place, {}).update(taken)

    def delete(self, place: Place, record_ids: Sequence[uuid.UUID]) -> None:
        """Remove vectors. See ``VectorIndex``."""
        with _HELD:
            for record_id in record_ids:
                self._places.get(place, {}).pop(record_id, None)

    def search(
        self,
        place: Place,
        query: Vector,
        *,
        scope_ids: Collection[uuid.UUID],
        k: int,
        timeout_seconds: float,
    ) -> list[uuid.UUID]:
        """Return the nearest. See ``VectorIndex``."""
        del timeout_seconds
        numpy: Any = load("numpy", extra="local")
        wanted = {*scope_ids}
        with _HELD:
            rows = self._places.get(place, {})
            found = [(i, v) for i, (scope, v) in rows.items() if scope in wanted]
        if not found:
            return []
        matrix = numpy.array([vector for _, vector in found])
        order = numpy.argsort(-(matrix @ numpy.array(query)), kind="stable")[:k]
        return [found[place][0] for place in order]
