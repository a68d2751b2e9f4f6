"""The plan of the one statement, by its values and as prepared, in every regime."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection

from prism_memory import Memory, Scope
from prism_memory.db.local import local_settings
from prism_memory.recall.candidates.text import SMALL_ROWS, TERM_ROWS
from prism_memory.recall.candidates.vector import index_settings
from tests.capture import captured
from tests.recall.test_strategies import (
    QUESTION,
    SHARES,
    TENANT,
    changed,
    index,
    table,
)
from tests.recall.worded import recall_statements

__all__ = ["index", "table"]  # the fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("index")]

RARE, COMMON = "77", "filler"
"""A word of one row in each scope, and one of all rows."""

GENERIC = {"plan_cache_mode": "force_generic_plan"}


@dataclass(frozen=True)
class Scan:
    """One node of a plan that reads a table or an index.

    Args:
        rows: That it gave each time, and took away.
    """

    what: str
    rows: float
    loops: int


def sent(owner: str, question: str, **asked: Any) -> tuple[str, Mapping[str, Any]]:
    """Return the statement of a recall and its values, once the place is known."""
    memory = Memory(Scope(TENANT, owner))
    memory.recall(question, **asked)
    with captured() as seen:
        memory.recall(question, **asked)
    (one,) = recall_statements(seen.statements)
    return one


def plan(statement: str, given: Mapping[str, Any], *, generic: bool) -> str:
    """Return how it ran, with the settings that a recall has."""
    explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)"
    settings = {**index_settings(), **(GENERIC if generic else {})}
    with local_settings("default", settings), connection.cursor() as cursor:
        if not generic:
            cursor.execute(f"{explain} {statement}", given)
        else:
            names = [*dict.fromkeys(re.findall(r"%\((\w+)\)s", statement))]
            places = {name: f"${number}" for number, name in enumerate(names, 1)}
            values = ", ".join(f"%({name})s" for name in names)
            cursor.execute("DEALLOCATE ALL")  # a plan test before left its own
            cursor.execute(f"PREPARE asked AS {statement % places}")
            cursor.execute(f"{explain} EXECUTE asked ({values})", given)
        lines = [line for (line,) in cursor.fetchall()]
        if generic:
            cursor.execute("DEALLOCATE asked")
    return "\n".join(lines)


def scans(text: str) -> list[Scan]:
    """Return the nodes that read records and vectors, and that ran."""
    found: list[Scan] = []
    for line in text.splitlines():
        node = re.search(r"-> +(.*Scan.*) \(actual rows=([\d.]+) loops=(\d+)\)", line)
        if node:
            found.append(Scan(node[1], float(node[2]), int(node[3])))
        taken = re.search(r"Rows Removed by (?:Filter|Index Recheck): ([\d.]+)", line)
        if taken and found:
            last = found.pop()
            found.append(Scan(last.what, last.rows + float(taken[1]), last.loops))
    tables = ("prism_memory_record", "prism_memory_embedding", "prism_memory_hnsw")
    return [scan for scan in found if any(name in scan.what for name in tables)]


def check_nothing_is_read_whole(text: str) -> None:
    assert "Seq Scan on prism_memory_record" not in text, text
    assert not re.search(r"Seq Scan on prism_memory_embedding\b", text), text
    assert "Gather" not in text, text
    assert "Parallel" not in text, text


def ran(text: str, name: str) -> bool:
    """Tell whether a node reads that index, or table, and ran."""
    return any(name in scan.what and scan.loops for scan in scans(text))


WAYS = pytest.mark.parametrize("generic", [False, True], ids=["own", "generic"])
LEGS = pytest.mark.parametrize(
    "asked",
    [
        {},
        {"legs": "vector"},
        {"legs": "text"},
        {"legs": ["vector", "text", "recency"]},
        {"filter": {"n": 1}},
        {"kinds": ["entry"], "namespaces": [""]},
    ],
    ids=str,
)


@WAYS
@LEGS
@pytest.mark.parametrize("owner", SHARES)
def test_in_the_exact_regime_a_scope_is_read_by_its_indexes(
    owner: str, asked: dict[str, Any], *, generic: bool
) -> None:
    """B166."""
    text = plan(*sent(owner, RARE, **asked), generic=generic)

    check_nothing_is_read_whole(text)
    assert "prism_memory_hnsw" not in text
    legs = asked.get("legs", "hybrid")
    if legs != "text" and "filter" not in asked:
        assert ran(text, "prism_memory_embedding_scan"), text
    if legs != "vector":
        # What a filter wants may be so rare that its own index is enough.
        other = ["prism_memory_record_metadata"] if "filter" in asked else []
        if SHARES[owner] <= SMALL_ROWS:  # all of a small scope is read
            other.append("prism_memory_record_order")
        assert any(ran(text, i) for i in ["prism_memory_record_search", *other]), text
    if "recency" in legs:
        assert ran(text, "prism_memory_record_order"), text


@WAYS
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"legs": "vector"},
        {"legs": "text"},
        {"legs": ["vector", "text", "recency"]},
        {"kinds": ["entry"], "namespaces": [""]},
    ],
    ids=str,
)
def test_in_the_index_regime_the_hnsw_index_is_walked(
    asked: dict[str, Any], *, generic: bool
) -> None:
    with changed(EXACT_SCAN_ROWS=0, HNSW_MAX_SCAN_TUPLES=200_000):
        text = plan(*sent("d", QUESTION, **asked), generic=generic)

    check_nothing_is_read_whole(text)
    if asked.get("legs") != "text":
        assert ran(text, "prism_memory_hnsw"), text
        assert "prism_memory_embedding_scan" not in text


@WAYS
@pytest.mark.parametrize("owner", ["a", "b", "c"])
def test_the_words_of_a_small_scope_cost_no_more_than_its_rows(
    owner: str, *, generic: bool
) -> None:
    """Issue 3: a common word that stands in everybody's rows costs nothing there."""
    text = plan(*sent(owner, COMMON, legs="text"), generic=generic)

    assert ran(text, "prism_memory_record_order"), text
    assert not ran(text, "prism_memory_record_search"), text
    assert all(scan.rows <= SHARES[owner] for scan in scans(text)), text


@WAYS
def test_a_rare_word_reads_few_rows_of_a_large_scope(*, generic: bool) -> None:
    """4,000 of the table's 20,000 are in sight; nothing but their number is counted."""
    text = plan(*sent("d", RARE, legs="text"), generic=generic)

    words = [scan for scan in scans(text) if "prism_memory_record_search" in scan.what]
    assert words
    assert all(scan.rows <= 2 for scan in words), text
    assert all(scan.rows <= 1_000 for scan in scans(text)), text


@WAYS
def test_a_common_word_reads_no_more_rows_than_are_searched(*, generic: bool) -> None:
    """The index tells all 4,000 of the scope; of the rows, only so many are read."""
    text = plan(*sent("d", COMMON, legs="text"), generic=generic)

    by_index = [scan for scan in scans(text) if "Bitmap Index Scan" in scan.what]
    rows = [scan for scan in scans(text) if "Bitmap Index Scan" not in scan.what]
    assert all(scan.rows <= SHARES["d"] for scan in by_index), text
    assert all(scan.rows <= TERM_ROWS + 1 for scan in rows), text
    check_nothing_is_read_whole(text)


@WAYS
def test_both_regimes_keep_their_plan_after_20_executions(*, generic: bool) -> None:
    """And after the tables were analyzed anew."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE prism_memory_record, prism_memory_embedding")
    for _ in range(20):
        Memory(Scope(TENANT, "d")).recall(QUESTION)
    exact = plan(*sent("d", QUESTION), generic=generic)
    with changed(EXACT_SCAN_ROWS=0):
        for _ in range(20):
            Memory(Scope(TENANT, "d")).recall(QUESTION)
        by_index = plan(*sent("d", QUESTION), generic=generic)

    assert ran(exact, "prism_memory_embedding_scan")
    assert ran(by_index, "prism_memory_hnsw")
    check_nothing_is_read_whole(exact)
    check_nothing_is_read_whole(by_index)
