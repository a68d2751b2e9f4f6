"""The rule looks things up: what it costs does not grow with what others hold."""

from __future__ import annotations

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
