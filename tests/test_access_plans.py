"""The rule looks things up: what it costs does not grow with what others hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from prism_memory.access import Reader, visible
from tests.capture import captured
from tests.factories import NOON, make_memory, make_scope, remember_one
from tests.kept import kept

pytestmark = pytest.mark.django_db

STRANGERS = 50
OF_EACH = 100

EDGES = """
INSERT INTO prism_memory_lineageedge (tenant, record_id, source_ref, position)
SELECT tenant, id, 'record:' || id, 0 FROM prism_memory_record WHERE key LIKE 'bulk-%'
"""

STONES = """
INSERT INTO prism_memory_tombstone
       (id, tenant, target_ref, root_ref, reason, hold, supersedes_ref, actor, at,
        cleared_at)
SELECT gen_random_uuid(), tenant, 'record:' || id, 'record:' || id, 'revoked', FALSE,
       '', 'bulk', created_at, created_at
  FROM prism_memory_record WHERE key LIKE 'bulk-%'
"""

IN_FORCE = """
INSERT INTO prism_memory_tombstone
       (id, tenant, target_ref, root_ref, reason, hold, supersedes_ref, actor, at)
SELECT gen_random_uuid(), tenant, 'record:' || id, 'record:' || gen_random_uuid(),
       'forgotten', FALSE, '', 'bulk', created_at
  FROM prism_memory_record, generate_series(1, 20) WHERE key LIKE 'bulk-%'
"""


@pytest.fixture(scope="module")
def filled(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Thousands of strangers' records, each once revoked and shown again."""
    with kept(django_db_blocker):
        fill()
        yield


def fill() -> None:
    remember_one(key="mine")
    for number in range(STRANGERS):
        stranger = make_memory(make_scope(owner=f"bob-{number}"))
        texts = [f"words {number} {i}" for i in range(OF_EACH)]
        stranger.remember([{"text": text, "key": f"bulk-{text}"} for text in texts])
    with connection.cursor() as cursor:
        for statement in (EDGES, STONES):
            cursor.execute(statement)
        for table in ("record", "lineageedge", "tombstone"):
            cursor.execute(f"ANALYZE prism_memory_{table}")


@pytest.mark.parametrize(
    "asked", [{}, {"known_at": NOON}, {"tags": ["a"]}, {"include_superseded": True}]
)
def test_a_scope_of_few_rows_reads_no_table_whole(
    filled: None, asked: dict[str, Any]
) -> None:
    """case_C33."""
    reader = Reader(make_scope(), **asked)
    with captured() as seen:
        found = list(visible(using="default", reader=reader))
    assert len(found) == (not {"known_at", "tags"} & asked.keys())
    ((statement, given),) = seen.on_tenants()
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", given)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "Seq Scan on prism_memory_record" not in plan
    assert "Seq Scan on prism_memory_tombstone" not in plan
    assert "Seq Scan on prism_memory_lineageedge" not in plan


def test_what_blocks_a_row_is_looked_up_by_an_index(filled: None) -> None:
    """B166: with far more tombstones than the scope has records, in any plan.

    Its cost is that of the scope's rows: the tables are looked into, never read.
    """
    with connection.cursor() as cursor:
        cursor.execute(IN_FORCE)
        cursor.execute("ANALYZE prism_memory_tombstone")
    for mode in ("force_generic_plan", "force_custom_plan"):
        for mine in ("blocked", "free"):
            check_it_is_looked_up(mode, mine)


def check_it_is_looked_up(mode: str, mine: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL plan_cache_mode = {mode}")
    scope = make_scope() if mine == "free" else make_scope(owner="bob-7")
    with captured() as seen:
        found = list(visible(using="default", reader=Reader(scope)))
    assert len(found) == (mine == "free")
    ((statement, given),) = seen.on_tenants()
    plan = prepared_plan(statement, given)
    assert "Seq Scan" not in plan
    for table in ("prism_memory_tombstone", "prism_memory_lineageedge"):
        assert re.search(rf"Index (Only )?Scan using \w+ on {table}", plan), plan
    assert "SubPlan" in plan


def prepared_plan(statement: str, given: Any) -> str:
    """Return the plan of a statement that was prepared, as drivers come to do."""
    names = list(given) if isinstance(given, dict) else []
    places = {name: f"${n}" for n, name in enumerate(names, 1)}
    with connection.cursor() as cursor:
        text = statement % places if names else _numbered(statement)
        values = [given[name] for name in names] if names else list(given)
        cursor.execute("DEALLOCATE ALL")
        cursor.execute(f"PREPARE asked AS {text}")
        marks = ", ".join(["%s"] * len(values))
        cursor.execute(f"EXPLAIN EXECUTE asked({marks})", values)
        return "\n".join(line for (line,) in cursor.fetchall())


def _numbered(statement: str) -> str:
    parts = statement.split("%s")
    numbered = [f"{part}${n}" for n, part in enumerate(parts[:-1], 1)]
    return "".join([*numbered, parts[-1]])
