"""An external index of vectors that tests watch, stop and spoil."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.conf import settings
from django.test import override_settings

from prism_memory import backends
from prism_memory.backends import Place, Stored
from prism_memory.backends.vector_numpy import NumpyVectors
from prism_memory.errors import ProviderUnavailable
from prism_memory.types import Vector

WATCHED = {"BACKEND": "tests.indexes.WatchedIndex"}


class WatchedIndex(NumpyVectors):
    """Notes what it is asked.

    Attributes:
        down: Every call fails.
        asked: How many ids each search was asked for.
        adds: What is named first by each search, whoever it belongs to.
        meanwhile: Called once, while it is told of vectors.
    """

    def __init__(self, label: str = "watched") -> None:
        super().__init__()
        self.label = label
        self.down = False
        self.asked: list[int] = []
        self.adds: list[uuid.UUID] = []
        self.meanwhile: Callable[[], object] | None = None

    @property
    def name(self) -> str:
        return self.label

    def held(self, tenant: str = "acme") -> set[uuid.UUID]:
        """What it holds of one tenant."""
        places = [p for p in self._places if p.tenant == tenant]
        return {i for place in places for i in self._places[place]}

    def vector(self, record_id: uuid.UUID) -> Vector:
        rows = {i: v for r in self._places.values() for i, (_, v) in r.items()}
        return rows[record_id]

    def lose(self) -> None:
        """Forget everything, and tell nobody."""
        self._places.clear()

    def upsert(self, place: Place, rows: Sequence[Stored]) -> None:
        self._refuse()
        if meanwhile := self.meanwhile:
            self.meanwhile = None
            meanwhile()
        super().upsert(place, rows)

    def delete(self, place: Place, record_ids: Sequence[uuid.UUID]) -> None:
        self._refuse()
        super().delete(place, record_ids)

    def search(
        self,
        place: Place,
        query: Vector,
        *,
        scope_ids: Collection[uuid.UUID],
        k: int,
        timeout_seconds: float,
    ) -> list[uuid.UUID]:
        self._refuse()
        self.asked.append(k)
        found = super().search(
            place, query, scope_ids=scope_ids, k=k, timeout_seconds=timeout_seconds
        )
        return [*self.adds, *found][:k]

    def _refuse(self) -> None:
        if self.down:
            message = "It is down."
            raise ProviderUnavailable(message)


def watched() -> WatchedIndex:
    """Return the index of the settings."""
    index = backends.get_vector_index()
    assert isinstance(index, WatchedIndex)
    return index


def chosen(index: Any, **values: Any) -> override_settings:
    """Have the settings choose an index of vectors."""
    given = {**settings.PRISM_MEMORY, "VECTOR_INDEX": index, **values}
    return override_settings(PRISM_MEMORY=given)
