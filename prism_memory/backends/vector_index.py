"""What an external index of vectors is, and how it is asked.

It holds a copy of the vectors, never their texts: PostgreSQL keeps the truth. It is
asked for ids alone; who may see what stands behind them is decided in SQL, as for every
other reader.
"""

from __future__ import annotations

import abc
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from django.core import checks

from prism_memory.backends.base import answered_within
from prism_memory.errors import ProviderRejected
from prism_memory.types import Vector


@dataclass(frozen=True)
class Place:
    """The vectors of one tenant and one space, and so of one embedder and one width.

    An index keeps places apart: nothing of one is ever found in another.
    """

    tenant: str
    space_id: int


@dataclass(frozen=True)
class Stored:
    """A vector as an index holds it.

    Args:
        scope_id: Of the record; what a search is narrowed by.
        vector: Unit length.
    """

    record_id: uuid.UUID
    scope_id: uuid.UUID
    vector: Vector


class VectorIndex(abc.ABC):
    """An index of vectors outside PostgreSQL.

    Its constructor takes the OPTIONS as keywords, and makes no network call. Every
    method raises ``ProviderUnavailable`` (or an ``OSError``) where the index is down,
    and ``ProviderRejected`` where it refuses; any other error counts as a refusal.
    ``testing.external_indexes`` holds the rules that it must keep.
    """

    def __repr__(self) -> str:
        # Nothing but the name: OPTIONS hold keys.
        return f"<{type(self).__name__} {self.name}>"

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """What it is and where, such as ``qdrant:memory``; 1..256 bytes, no secrets.

        What it holds is accounted for under this name: another name is another index,
        and all is copied anew.
        """

    @abc.abstractmethod
    def upsert(self, place: Place, rows: Sequence[Stored]) -> None:
        """Store vectors, in place of those that stand under the same ids.

        When it returns, a search finds them.
        """

    @abc.abstractmethod
    def delete(self, place: Place, record_ids: Sequence[uuid.UUID]) -> None:
        """Remove vectors for good; those that are not there are no error."""

    @abc.abstractmethod
    def search(
        self,
        place: Place,
        query: Vector,
        *,
        scope_ids: Collection[uuid.UUID],
        k: int,
        timeout_seconds: float,
    ) -> Sequence[uuid.UUID]:
        """Return the ids of the records nearest to ``query``, nearest first.

        Args:
            query: Unit length.
            scope_ids: Only of these scopes, 1 to 4.
            k: Ids wanted, 1 to 10,000; fewer come only where the scopes hold fewer.
        """

    def check(self) -> list[checks.CheckMessage]:
        """Return what a system check should say about the OPTIONS. No network."""
        return []

    def close(self) -> None:  # noqa: B027 - many hold nothing to close
        """Give back connections; a later call opens them again."""


def nearest(
    index: VectorIndex,
    place: Place,
    query: Vector,
    *,
    scope_ids: Collection[uuid.UUID],
    k: int,
    timeout_seconds: float,
) -> list[uuid.UUID]:
    """Return what an index gives, checked: at most ``k`` ids, each once.

    Raises:
        ProviderUnavailable: It is down, or answered too late.
        ProviderRejected: It refuses, or gives what are no ids.
    """
    given = {"scope_ids": scope_ids, "k": k, "timeout_seconds": timeout_seconds}
    with answered_within(index, timeout_seconds):
        found = index.search(place, query, **given)  # type: ignore[arg-type]
        # Inside: what is no list fails here, and one too long is not read whole.
        ids = list(islice(found, k + 1))
    if len(ids) > k or not all(isinstance(one, uuid.UUID) for one in ids):
        message = f"The index {index.name!r} gave what are not {k} ids of records."
        raise ProviderRejected(message)
    return list(dict.fromkeys(ids))
