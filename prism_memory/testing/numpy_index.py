"""What an index of vectors is, and the oracle: one that looks at every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from prism_memory.backends.base import unit_vector
from prism_memory.backends.loading import load
from prism_memory.errors import Invalid
from prism_memory.types import Vector, check_count


class VectorIndex(Protocol):
    """Rows with a vector each, every one in one scope.

    Attributes:
        dimensions: Width of a vector.
    """

    dimensions: int

    def add(
        self, ids: Sequence[str], scopes: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        """Add rows that are not there, all or, where one is refused, none.

        Args:
            ids: Each once.
            scopes: Of each row.
            vectors: Shape ``(n, dimensions)``; their length does not matter.

        Raises:
            PrismMemoryError: A vector of another width, without a length, or not
                finite; a ``ValueError`` does as well.
        """

    def search(self, scope: str, query: Vector, k: int) -> Sequence[tuple[str, float]]:
        """Return the ids of the nearest rows of the scope, nearest first.

        Args:
            k: Rows wanted; fewer come only where the scope holds fewer.

        Returns:
            Ids with their cosines to the query, -1..1.

        Raises:
            PrismMemoryError: As ``add``.
        """

    def remove(self, ids: Sequence[str]) -> None:
        """Take rows away; those that are not there are no error."""


class NumpyIndex:
    """Look at every row: exact, in memory, for tests and as an oracle (B113).

    Rows of equal cosine come in the order in which they were added.

    Args:
        dimensions: Width of a vector.

    Raises:
        Misconfigured: NumPy is not installed.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._numpy = load("numpy", extra="local")
        self._scopes: dict[str, dict[str, list[float]]] = {}
        self._matrices: dict[str, Any] = {}

    def add(
        self, ids: Sequence[str], scopes: Sequence[str], vectors: Sequence[Vector]
    ) -> None:
        """Add rows, all or none. See ``VectorIndex``."""
        if not len(ids) == len(scopes) == len(vectors):
            message = "ids, scopes and vectors must be of one length."
            raise Invalid(message, field="vectors")
        units = [self._unit(vector) for vector in vectors]
        for i, scope, unit in zip(ids, scopes, units, strict=True):
            self._scopes.setdefault(scope, {})[i] = unit
            self._matrices.pop(scope, None)

    def search(self, scope: str, query: Vector, k: int) -> list[tuple[str, float]]:
        """Return the nearest rows of the scope. See ``VectorIndex``."""
        unit = self._numpy.array(self._unit(query))
        check_count(k, "k")
        rows = self._scopes.get(scope)
        if not rows:
            return []
        if scope not in self._matrices:
            self._matrices[scope] = self._numpy.array([*rows.values()])
        cosines = self._matrices[scope] @ unit
        nearest = self._numpy.argsort(-cosines, kind="stable")[:k]
        ids = [*rows]
        return [(ids[place], float(cosines[place])) for place in nearest]

    def remove(self, ids: Sequence[str]) -> None:
        """Take rows away. See ``VectorIndex``."""
        for scope, rows in self._scopes.items():
            if gone := rows.keys() & set(ids):
                self._scopes[scope] = {i: v for i, v in rows.items() if i not in gone}
                self._matrices.pop(scope, None)

    def _unit(self, vector: Vector) -> list[float]:
        return unit_vector(vector, "a vector", self.dimensions)
