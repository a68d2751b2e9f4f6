"""What remember runs uses an index: one write costs the same however many rows are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from prism_memory.memory import Memory
from prism_memory.types import Consent, Entry, Lineage, SourceRef
from tests.capture import captured
from tests.factories import make_memory, make_scope, remember_one
from tests.kept import kept

pytestmark = pytest.mark.django_db

ROWS = 5_000

RECORDS = """
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
        sha256, uses, metadata, trust, writer, consent_source, consent_scope, visible,
        gate, gate_reason, gate_markers, created_at, version, source_id, ordinal)
SELECT gen_random_uuid(), tenant, scope_id, kind, '', '', '', 'bulk-' || number, text,
       language, sha256, 1, '{}', trust, writer, consent_source, consent_scope, TRUE,
       'open', '', '[]', created_at, 1, source_id, number
  FROM prism_memory_record, generate_series(1, %s) AS number
 WHERE key = 'pattern'
"""

EMBEDDINGS = """
INSERT INTO prism_memory_embedding
       (tenant, space_id, record_id, scope_id, sha256, attempts, error)
SELECT record.tenant, space.id, record.id, record.scope_id, record.sha256, 0, ''
  FROM prism_memory_record AS record, prism_memory_embeddingspace AS space
 WHERE record.key LIKE 'bulk-%%'
"""

EDGES = """
INSERT INTO prism_memory_lineageedge (tenant, record_id, source_ref, position)
SELECT tenant, id, 'record:' || id, 0 FROM prism_memory_record WHERE key LIKE 'bulk-%%'
"""

STONES = """
INSERT INTO prism_memory_tombstone
       (id, tenant, target_ref, root_ref, reason, hold, supersedes_ref, actor, at,
        scope_id)
SELECT gen_random_uuid(), tenant, 'record:' || id, 'record:' || id, 'corrected', FALSE,
       '', 'bulk', created_at, gen_random_uuid()
  FROM prism_memory_record WHERE key LIKE 'bulk-%%'
"""

SCOPES = """
INSERT INTO prism_memory_scope (id, tenant, owner, agent, thread, vectors, created_at)
SELECT gen_random_uuid(), 'acme', 'bulk-' || number, '', '', 0, now()
  FROM generate_series(1, %s) AS number
"""

SOURCES = """
INSERT INTO prism_memory_source
       (id, tenant, scope_id, key, uri, trust, writer, state, ingestion, bytes, chunks,
        error, created_at)
SELECT gen_random_uuid(), tenant, scope_id, 'bulk-' || number, '', trust, writer, state,
       ingestion, 0, 0, '', created_at
  FROM prism_memory_source, generate_series(1, %s) AS number
"""

GRANTS = """
INSERT INTO prism_memory_consentgrant
       (id, tenant, record_id, source, label, visible, granted_at, actor, at)
SELECT gen_random_uuid(), tenant, id, 'user', 'thread', TRUE, created_at, 'system',
       created_at
  FROM prism_memory_record
"""

HOLDS = """
INSERT INTO prism_memory_legalhold
       (id, tenant, level, target_ref, owner, agent, thread, matter, placed_by,
        placed_at, released_by)
SELECT gen_random_uuid(), tenant, level, level || ':' || gen_random_uuid()::text,
       CASE level WHEN 'scope' THEN 'held-' || number ELSE '' END, '', '', '', 'system',
       now(), ''
  FROM prism_memory_tenant, generate_series(1, 2500) AS number,
       unnest(ARRAY['record', 'scope']) AS level,
       LATERAL (SELECT name AS tenant) AS named
"""

TABLES = (
    "record",
    "embedding",
    "lineageedge",
    "tombstone",
    "scope",
    "source",
    "consentgrant",
    "legalhold",
)


@pytest.fixture(scope="module")
def _rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A scope with thousands of rows in every table, known to the planner."""
    with kept(django_db_blocker):
        fill()
        yield


@pytest.fixture
def filled(_rows: None) -> Memory:
    return make_memory()


def fill() -> None:
    remember_one(key="pattern", source=SourceRef("pattern"))
    with connection.cursor() as cursor:
        for statement in (SCOPES, SOURCES, RECORDS):
            cursor.execute(statement, [ROWS])
        for statement in (EMBEDDINGS, EDGES, STONES, GRANTS, HOLDS):
            cursor.execute(statement, [])
        for table in TABLES:
            cursor.execute(f"ANALYZE prism_memory_{table}")


def sequential(statement: str, given: Any) -> set[str]:
    """Return the tables that a statement's plan reads whole."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}", given)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    found = set(re.findall(r"Seq Scan on prism_memory_(\w+)", plan))
    # Those of a few rows, or none, are rightly read whole.
    return {f"prism_memory_{table}" for table in found & set(TABLES)}


def plans(seen: Any) -> dict[str, set[str]]:
    statements = {
        sql: given
        for sql, given in seen.statements
        if "prism_memory_" in sql and not sql.startswith(("SAVEPOINT", "RELEASE"))
    }
    return {sql: sequential(sql, given) for sql, given in statements.items()}


def entries(number: int) -> list[Entry]:
    return [
        Entry(
            f"bulk {i} anew",
            key=f"bulk-{i * 7}",
            lineage=Lineage((f"bulk-{i}", f"m{i}")),
            source=SourceRef(f"bulk-{i}"),
        )
        for i in range(number)
    ]


@pytest.mark.parametrize("number", [1, 20])
def test_remember_reads_no_table_whole(filled, number):
    """case_C33."""
    with captured() as seen:
        filled.remember(entries(number))
    found = plans(seen)
    assert len(found) >= 10
    assert {sql: tables for sql, tables in found.items() if tables} == {}


def test_a_new_scope_reads_no_table_whole(filled):
    """case_C33."""
    memory = make_memory(make_scope(owner="new", agent="", thread=""))
    with captured() as seen:
        memory.remember(entries(3))
    assert {sql: tables for sql, tables in plans(seen).items() if tables} == {}


def test_revoking_reads_no_table_whole(filled):
    """B159, case_C33."""
    record_id = remember_one("words", key="root")
    with captured() as seen:
        filled.set_consent(record_id, visible=False)
    assert {sql: tables for sql, tables in plans(seen).items() if tables} == {}


def test_granting_reads_no_table_whole(filled):
    """case_C33."""
    record_id = remember_one("words", key="root")
    with captured() as seen:
        filled.set_consent(record_id, visible=True)
    assert {sql: tables for sql, tables in plans(seen).items() if tables} == {}


def test_correcting_reads_no_table_whole(filled):
    """B159, case_C33."""
    record_id = remember_one("words", key="root")
    with captured() as seen:
        filled.correct(record_id, "other words")
    found = plans(seen)
    assert len(found) >= 9
    assert {sql: tables for sql, tables in found.items() if tables} == {}


def test_a_history_reads_no_table_whole(filled):
    """case_C33."""
    record_id = remember_one("words", key="root", consent=Consent())
    with captured() as seen:
        assert len(filled.consent_history(record_id)) == 1
    assert {sql: tables for sql, tables in plans(seen).items() if tables} == {}


def whole(seen: Any) -> dict[str, set[str]]:
    return {sql: tables for sql, tables in plans(seen).items() if tables}


@pytest.mark.parametrize("hold", [False, True])
def test_forgetting_reads_no_table_whole(filled, hold):
    """B159, B166, case_C33."""
    ids = [remember_one(f"words {n}", key=f"root {n}") for n in range(3)]
    remember_one("made", lineage=Lineage(("root 0", "root 1")))
    with captured() as seen:
        done = filled.forget(ids, hold=hold)
    assert done.blocked == 4
    assert whole(seen) == {}


def test_forgetting_a_small_thread_reads_no_table_whole(filled):
    """B149, case_C33: whoever else is in the tenant."""
    memory = make_memory(make_scope(thread="small"))
    memory.remember([Entry(f"n {n}", source=SourceRef("s")) for n in range(5)])
    with captured() as seen:
        assert memory.forget_thread().deleted == 5
    assert whole(seen) == {}


def test_holding_and_listing_read_no_table_whole(filled):
    """case_C33."""
    record_id = remember_one("words", key="root")
    with captured() as seen:
        held = filled.hold(record=record_id)
        filled.release(held.id)
        filled.forget(record_id, hold=True)
        filled.release_forgotten(record_id)
        assert filled.invalidated_ids().refs
        assert filled.tombstones(limit=1).items
    # There are as few holds as there are cases.
    assert {n for names in whole(seen).values() for n in names} <= {
        "prism_memory_legalhold"
    }


def test_the_watch_sees_a_table_read_whole(filled):
    sql = "SELECT FROM prism_memory_record WHERE text = %s"
    assert sequential(sql, ["words"]) == {"prism_memory_record"}
