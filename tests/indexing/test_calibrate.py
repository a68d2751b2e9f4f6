"""What both scans cost here: measured over stored vectors, and nothing is written."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from django.db import connection, transaction

from prism_memory import Scope, indexing
from prism_memory.db import queries
from prism_memory.db.local import local_settings
from prism_memory.db.queries import composed
from prism_memory.errors import Conflict, Unsupported
from prism_memory.indexing.calibrate import (
    EF_SEARCH,
    LOOKED_AT,
    QUESTIONS,
    ROWS,
    SIZES,
    TIMES,
    Group,
    Scans,
    chosen,
)
from prism_memory.recall.candidates import vector
from prism_memory.recall.question import CANDIDATES_AT_LEAST
from tests.capture import captured, tenant_in_every_statement
from tests.indexing.steady import RECOMMENDED, make_steady
from tests.recall.bulk import DIMENSIONS, fill, seed, space, vacuum

TENANT = "acme"
OWNERS = {"a": 100, "b": 300, "c": 900}
NOBODY = "globex"

MODULE = import_module("prism_memory.indexing.calibrate")


@pytest.fixture
def table(transactional_db: None) -> Iterator[None]:
    """Three owners of one tenant, another tenant with one vector, and an index.

    Committed: what is measured needs transactions of its own.
    """
    for owner, rows in OWNERS.items():
        seed(Scope(TENANT, owner))
        fill(Scope(TENANT, owner), rows - 1)
    seed(Scope(NOBODY, "a"))
    vacuum()
    assert indexing.create_index(using="default", space=space()).valid
    yield
    indexing.drop_index(using="default", space=space())


def calibrate(*tenants: str, **given: Any) -> indexing.Calibration:
    return indexing.calibrate(
        using="default", space=space(), tenants=tenants or (TENANT, NOBODY), **given
    )


def group(*owners: str) -> Group:
    ids = tuple(Scope(TENANT, owner).id for owner in owners)
    return Group(ids, sum(OWNERS[owner] for owner in owners))


@pytest.mark.usefixtures("table")
class TestMeasuring:
    @pytest.fixture(autouse=True)
    def _steady(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ran = make_steady(monkeypatch)

    def test_scopes_of_several_sizes_are_scanned_both_ways(self) -> None:
        seen: list[tuple[int, int]] = []
        found = calibrate(progress=lambda *told: seen.append(told))

        sizes = [one.vectors for one in found.measured]
        assert found.tenant == TENANT
        assert sizes == [100, 300, 900, 1_300]
        assert [one.scopes for one in found.measured] == [1, 1, 1, 3]
        assert all(one.enough for one in found.measured)
        assert seen == [(n, len(sizes)) for n in range(1, len(sizes) + 1)]
        asked = QUESTIONS * TIMES
        both = [("exact_scan", asked), ("index_scan", asked)]
        assert self.ran == [("exact_scan", TIMES), *both * len(sizes)]
        assert found.recommended == RECOMMENDED

    def test_nothing_is_written_and_nothing_stays_set(self) -> None:
        with captured() as seen:
            calibrate()
        begun = [re.match(r"\s*(SET LOCAL|\w+)", sql) for sql, _ in seen.statements]
        verbs = {begin[1] for begin in begun if begin}
        assert verbs <= {"SELECT", "WITH", "SET LOCAL"}
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('transaction_read_only'),"
                " current_setting('enable_sort')"
            )
            assert cursor.fetchone() == ("off", "on")

    def test_scans_run_in_transactions_that_cannot_write(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: set[str] = set()
        fetch = queries.fetch

        def noted(using: str, statement: str, given: Any) -> Any:
            if "AS found" in statement:
                with connection.cursor() as cursor:
                    cursor.execute("SHOW transaction_read_only")
                    seen.update(cursor.fetchone())
            return fetch(using, statement, given)

        monkeypatch.setattr(queries, "fetch", noted)
        Scans("default", space(), TENANT).measured(group("a"))
        assert seen == {"on"}

    def test_each_statement_names_the_tenant(self) -> None:
        """B22."""
        with tenant_in_every_statement(TENANT) as seen:
            calibrate(TENANT)
        assert seen.on_tenants()

    def test_a_tenant_with_few_vectors_says_so(self) -> None:
        with pytest.raises(Conflict, match=r"hold 1 vectors; at least 1,000"):
            calibrate(NOBODY)
        with pytest.raises(Conflict, match=r"hold 0 vectors"):
            indexing.calibrate(using="default", space=space(), tenants=())

    def test_without_a_whole_index_it_says_so(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        lost = indexing.IndexState("name", exists=True, valid=False, bytes=0)
        monkeypatch.setattr(MODULE, "index_state", lambda **_: lost)
        with pytest.raises(Conflict, match="no valid index"):
            calibrate()

    def test_inside_a_transaction_it_is_refused(self) -> None:
        with transaction.atomic(), pytest.raises(Unsupported):
            calibrate()

    def test_an_index_that_ends_early_is_told(
        self, settings: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(MODULE, "EF_SEARCH", 1)
        monkeypatch.setattr(MODULE, "ROWS", 100)
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "HNSW_MAX_SCAN_TUPLES": 1}
        found = Scans("default", space(), TENANT).measured(group("a"))
        assert (found.vectors, found.enough) == (100, False)
        assert found.by_index_ms == found.index_ms + found.exact_ms

    def test_each_scan_goes_the_way_it_is_named_for(self) -> None:
        """What is timed is what recall would do, in small scopes and in large ones."""
        name, constants = indexing.index_name(space()), {"space_id": space().id}
        exact = composed("indexing", "exact_scan", rows=96, **constants)
        index = composed(
            "indexing", "index_scan", rows=32, dimensions=DIMENSIONS, **constants
        )
        for owners in ("a", "c", "abc"):
            plan = planned(exact, owners, {})
            assert name not in plan, plan
            assert "Seq Scan on prism_memory_embedding" not in plan, plan
            plan = planned(index, owners, {"enable_sort": "off"})
            assert name in plan, plan


def planned(statement: str, owners: str, needed: dict[str, str]) -> str:
    given: dict[str, Any] = {
        "tenant": TENANT,
        "scope_ids": list(group(*owners).scope_ids),
        "vector": str([1.0] * DIMENSIONS),
    }
    with local_settings("default", needed), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", given)
        return "\n".join(line for (line,) in cursor.fetchall())


def test_it_asks_as_recall_does() -> None:
    """The constants of two packages that may not import each other."""
    given = vector.index_settings()
    assert given["hnsw.ef_search"] == str(EF_SEARCH)
    assert given["hnsw.iterative_scan"] == "relaxed_order"
    assert LOOKED_AT == vector.LOOKED_AT
    assert ROWS == CANDIDATES_AT_LEAST


def scopes(*sizes: int) -> list[Group]:
    return [Group((uuid.UUID(int=n),), size) for n, size in enumerate(sizes)]


def test_sizes_are_chosen_small_to_large_and_far_apart() -> None:
    found = [one.vectors for one in chosen(scopes(40_000, 9_000, 2_000, 400, 90, 20))]

    assert found == sorted(set(found))
    assert len(found) <= SIZES
    assert (found[0], found[-1]) == (20, 51_400)


def test_equal_scopes_are_scanned_together() -> None:
    found = chosen(scopes(500, 500, 500, 500, 500))

    assert [one.vectors for one in found] == [500, 1_000, 1_500, 2_000]
    assert [len(one.scope_ids) for one in found] == [1, 2, 3, 4]


@pytest.mark.parametrize("sizes", [(500_000,), (500_000, 300_000), (500_000, 20_000)])
def test_what_would_take_too_long_is_left_out(sizes: tuple[int, ...]) -> None:
    assert [one.vectors for one in chosen(scopes(*sizes))] == [sizes[-1]]
