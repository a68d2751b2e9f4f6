"""The exact scan and the index: always enough rows, and the nearest ones (C05)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoDbBlocker

from prism_memory import Memory, Scope, backends
from prism_memory.access import Reader
from prism_memory.db.local import local_settings
from prism_memory.indexing import create_index, drop_index
from prism_memory.recall import Question, VectorLeg
from prism_memory.recall.candidates import find
from prism_memory.recall.candidates.vector import index_settings
from prism_memory.types import Recalled
from tests.recall.bulk import DIMENSIONS, fill, seed, space, vacuum
from tests.tables import make_fresh

TENANT = "filtered"
SHARES = {"a": 50, "b": 400, "c": 1_000, "d": 4_000}
REST = 14_550
TIMES = 12
HALF = 1e-3
QUESTION = "which way to the harbour"
QUESTIONS = [QUESTION, "boats and nets", "rain on Sunday", "a filler of some kind"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("table")]


@pytest.fixture(scope="module")
def table(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """20,000 vectors; owners hold 0.25 %, 2 %, 5 % and 20 % of them.

    Committed once for all tests of this module, and taken away after them.
    """
    with django_db_blocker.unblock():
        make_fresh()
        for owner, rows in {**SHARES, "rest": REST}.items():
            scope = Scope(TENANT, owner)
            seed(scope)
            fill(scope, rows - 1)
        vacuum()
        yield
        call_command("flush", interactive=False, verbosity=0)


@pytest.fixture(scope="module")
def index(table: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        # Sparser than by default: quicker to build, and harder to find all by.
        form = {"m": 12, "ef_construction": 40}
        assert create_index(using="default", space=space(), **form).valid
        yield
        drop_index(using="default", space=space())


def changed(**values: Any) -> Any:
    return override_settings(PRISM_MEMORY={**settings.PRISM_MEMORY, **values})


def exact_neighbours(scope: Scope, vector: list[float], count: int) -> set[str]:
    """The oracle: NumPy over the stored vectors.

    With those that are as near as the last but for what half precision rounds.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT record_id::text, vector::real[]::text FROM prism_memory_embedding"
            " WHERE tenant = %s AND scope_id = %s AND vector IS NOT NULL",
            [scope.tenant, scope.id],
        )
        rows = cursor.fetchall()
    matrix = np.array(
        [np.array(text.strip("{}").split(","), dtype=np.float32) for _, text in rows]
    )
    # What is kept in half precision is a little longer or shorter than 1.
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    cosines = matrix @ np.array(vector, dtype=np.float32)
    least = np.sort(cosines)[-count] - HALF
    return {
        row[0] for row, cosine in zip(rows, cosines, strict=True) if cosine >= least
    }


def check_every_scope(*, indexed: bool) -> None:
    for owner, owned in SHARES.items():
        for top_k in (20, 32):
            by_index = indexed and owned >= Question("?", top_k).candidate_rows
            strategy = "index" if by_index else "exact"
            shares = [
                share_found(Scope(TENANT, owner), question, min(top_k, owned), strategy)
                for question in QUESTIONS
            ]
            assert sum(shares) >= 0.99 * len(shares)


def share_found(scope: Scope, question: str, top_k: int, strategy: str) -> float:
    memory = Memory(scope)
    found = Recalled()
    for _ in range(TIMES // len(QUESTIONS)):
        assert len(memory.recall(question, top_k)) == top_k
        found = memory.recall(question, top_k, legs="vector")
        assert len(found) == top_k
        assert found.strategy == strategy
    vector = backends.embed(backends.get_embedder(), [question], role="query")[0]
    oracle = exact_neighbours(scope, vector, top_k)
    return len(oracle & {str(hit.id) for hit in found}) / top_k


def test_case_c05_the_exact_scan_gives_all_rows_and_all_neighbours() -> None:
    """C05, B13, B482."""
    check_every_scope(indexed=False)


def test_case_c05_the_index_gives_all_rows_and_the_neighbours(index: None) -> None:
    """C05: forced into the index, which ends early in the smallest scopes."""
    with changed(EXACT_SCAN_ROWS=0, HNSW_MAX_SCAN_TUPLES=200_000):
        check_every_scope(indexed=True)


def test_an_index_scan_that_ends_early_is_answered_exactly(index: None) -> None:
    """C05: the cap of the scan is reached long before enough rows are visible."""
    with changed(EXACT_SCAN_ROWS=0, HNSW_MAX_SCAN_TUPLES=1):
        found = Memory(Scope(TENANT, "a")).recall(QUESTION, 32)

    assert len(found) == 32
    assert found.strategy == "exact"


def asked_for(using: str, owner: str, **narrowed: Any) -> int:
    """Return how many statements a recall took."""
    with CaptureQueriesContext(connection) as sent:
        found = Memory(Scope(TENANT, owner)).recall(QUESTION, 5, **narrowed)
    assert found.strategy == using
    return sum("near AS" in query["sql"] for query in sent)


def test_what_narrows_too_much_for_the_index_is_asked_exactly_at_once(
    index: None,
) -> None:
    """The second time; and nobody who is narrowed otherwise is."""
    with changed(EXACT_SCAN_ROWS=0):
        assert asked_for("index", "d", namespaces=[""]) == 2  # learns the size
        assert asked_for("index", "d", namespaces=[""]) == 1
        for narrowed in ({"tags": ["x"]}, {"filter": {"n": 7}}, {"tags": ["y"]}):
            assert asked_for("exact", "d", **narrowed) == 2
            assert asked_for("exact", "d", **narrowed) == 1
        assert asked_for("index", "d", namespaces=[""]) == 1
        assert asked_for("exact", "c", tags=["x"]) == 3


def test_small_scopes_are_scanned_exactly_though_there_is_an_index(index: None) -> None:
    with changed(EXACT_SCAN_ROWS=2_000):
        small = Memory(Scope(TENANT, "c")).recall(QUESTION, legs="vector")
        large = Memory(Scope(TENANT, "d")).recall(QUESTION, legs="vector")

    assert (small.strategy, large.strategy) == ("exact", "index")


def test_case_c06_answers_stay_right_when_the_index_is_lost(index: None) -> None:
    """C06: the space still says that there is one."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX prism_memory_hnsw_{space().id}")  # rolled back

    with changed(EXACT_SCAN_ROWS=0):
        assert len(Memory(Scope(TENANT, "b")).recall(QUESTION, 32)) == 32


def plan(scope: Scope, *, indexed: bool) -> str:
    """The plan of the recall statement, as it is really sent."""
    sent: dict[str, Any] = {}

    def keep(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "near" in sql:
            sent.update(sql=sql, params=params)
        return execute(sql, params, many, context)

    vector = backends.embed(backends.get_embedder(), [QUESTION], role="query")[0]
    leg = VectorLeg(space().id, DIMENSIONS, indexed, vector)
    with connection.execute_wrapper(keep):
        find(using="default", reader=Reader(scope), query="filler", leg=leg, rows=50)
    with local_settings("default", index_settings()), connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF) {sent['sql']}", sent["params"])
        return "\n".join(line for (line,) in cursor.fetchall())


def test_the_exact_plan_reads_the_scope_by_its_index(index: None) -> None:
    """B166: nothing is scanned whole, and the text leg goes by the GIN index."""
    text = plan(Scope(TENANT, "d"), indexed=False)

    assert "prism_memory_embedding_scan" in text, text
    assert "prism_memory_record_search" in text, text
    assert "prism_memory_hnsw" not in text
    assert "Seq Scan on prism_memory_record" not in text
    assert "Seq Scan on prism_memory_embedding " not in text


def test_the_text_leg_reads_no_word_of_a_foreign_scope(index: None) -> None:
    """All 20,000 records hold the word, a fifth of them in sight."""
    text = plan(Scope(TENANT, "d"), indexed=False)

    read = re.findall(r"prism_memory_record_search .*rows=([\d.]+)", text)
    assert read
    assert max(map(float, read)) <= SHARES["d"]


def test_the_index_plan_walks_the_hnsw_index(index: None) -> None:
    with changed(EXACT_SCAN_ROWS=0):
        for _ in range(20):
            Memory(Scope(TENANT, "d")).recall(QUESTION)
        text = plan(Scope(TENANT, "d"), indexed=True)

    walked = [line for line in text.splitlines() if "prism_memory_hnsw" in line]
    assert walked
    assert "never executed" not in walked[0]
    assert "Seq Scan on prism_memory_record" not in text


def setting(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s)", [name])
        return str(cursor.fetchone()[0])


def test_the_settings_of_a_scan_end_with_it(index: None) -> None:
    def in_autocommit() -> list[str]:
        Memory(Scope(TENANT, "d")).recall(QUESTION)
        try:
            return [setting("hnsw.ef_search"), setting("hnsw.iterative_scan")]
        finally:
            connection.close()

    with changed(EXACT_SCAN_ROWS=0), ThreadPoolExecutor(1) as pool:
        assert pool.submit(in_autocommit).result() == ["40", "off"]


def test_the_settings_of_a_scan_are_put_back_in_a_hosts_transaction(
    index: None,
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL hnsw.ef_search = 77")

    with changed(EXACT_SCAN_ROWS=0):
        found = Memory(Scope(TENANT, "d")).recall(QUESTION)

    assert found.strategy == "index"
    assert setting("hnsw.ef_search") == "77"
    assert setting("hnsw.iterative_scan") == "off"
