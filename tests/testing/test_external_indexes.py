"""B113, B481: the index in memory keeps the contract; who does not is found."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from prism_memory.backends import Place, Stored, nearest
from prism_memory.backends.vector_numpy import NumpyVectors
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.testing import external_indexes
from prism_memory.testing.external_indexes import check_external_index

ROW = Stored(uuid.uuid4(), uuid.uuid4(), [1.0, 0.0])


def test_the_index_in_memory_conforms() -> None:
    """B113."""
    check_external_index(NumpyVectors, rows=1_000)


class Mixed(NumpyVectors):
    """Knows no places."""

    def upsert(self, place: Place, rows: Sequence[Stored]) -> None:
        del place
        super().upsert(Place("all", 0), rows)

    def search(self, place: Place, query: Any, **given: Any) -> list[uuid.UUID]:
        del place
        return super().search(Place("all", 0), query, **given)


class OneScope(NumpyVectors):
    def search(
        self,
        place: Place,
        query: Any,
        *,
        scope_ids: Collection[uuid.UUID],
        **given: Any,
    ) -> list[uuid.UUID]:
        return super().search(place, query, scope_ids=[*scope_ids][:1], **given)


class Adding(NumpyVectors):
    """Leaves the vector that stands."""

    def upsert(self, place: Place, rows: Sequence[Stored]) -> None:
        there = self._places.get(place, {})
        super().upsert(place, [row for row in rows if row.record_id not in there])


class Nameless(NumpyVectors):
    @property
    def name(self) -> str:
        return ""


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("keeps_places_apart", Mixed),
        ("searches_several_scopes", OneScope),
        ("replaces_what_stands", Adding),
        ("has_a_name", Nameless),
    ],
)
def test_who_breaks_a_rule_is_found(rule: str, wrong: type[NumpyVectors]) -> None:
    """B493."""
    with pytest.raises(AssertionError):
        getattr(external_indexes, rule)(wrong, 8)


class Odd(NumpyVectors):
    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found

    def search(self, *args: Any, **given: Any) -> Any:
        del args, given
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def asked(found: Any) -> list[uuid.UUID]:
    return nearest(
        Odd(found),
        Place("acme", 1),
        [1.0, 0.0],
        scope_ids=[ROW.scope_id],
        k=2,
        timeout_seconds=1,
    )


def test_an_id_that_comes_twice_counts_once() -> None:
    assert asked([ROW.record_id, ROW.record_id]) == [ROW.record_id]


@pytest.mark.parametrize("found", [["text"], [uuid.uuid4() for _ in range(3)], [7]])
def test_what_are_no_ids_are_refused(found: Any) -> None:
    with pytest.raises(ProviderRejected):
        asked(found)


def test_a_connection_that_is_refused_is_an_outage() -> None:
    with pytest.raises(ProviderUnavailable, match="did not answer"):
        asked(ConnectionRefusedError("a secret"))
