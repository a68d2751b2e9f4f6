"""Many records at once, made in SQL: for tests about sizes."""

from __future__ import annotations

from typing import Any

from django.db import connection

from prism_memory import Memory, Origin, Scope, Trust
from prism_memory.indexing import Space, find_active

DIMENSIONS = 64

RECORDS = """
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
        sha256, uses, metadata, trust, writer, consent_source, consent_scope, visible,
        gate, gate_reason, gate_markers, created_at, version)
SELECT gen_random_uuid(), %(tenant)s, %(scope_id)s, 'entry', '', '', '',
       %(label)s || number, %(text)s || ' ' || number, 'english', '\\x00', 1, '{}',
       'user', 'bulk', 'user', 'thread', %(visible)s, 'open', '', '[]',
       statement_timestamp(), 1
  FROM generate_series(1, %(rows)s) AS number
"""

VECTORS = """
INSERT INTO prism_memory_embedding
       (tenant, space_id, record_id, scope_id, sha256, vector, attempts, error)
SELECT record.tenant, %(space_id)s, record.id, record.scope_id, record.sha256,
       coalesce(%(near)s::halfvec, l2_normalize(ARRAY(
         SELECT random() - 0.5 FROM generate_series(1, %(dimensions)s)
          WHERE record.sequence IS NOT NULL)::real[]::halfvec)), 1, ''
  FROM prism_memory_record AS record
 WHERE record.tenant = %(tenant)s AND record.scope_id = %(scope_id)s
   AND record.writer = 'bulk'
   AND NOT EXISTS (SELECT FROM prism_memory_embedding AS made
                    WHERE made.tenant = record.tenant AND made.record_id = record.id
                      AND made.space_id = %(space_id)s)
"""

KNOWN = "ANALYZE prism_memory_record"
"""Else each foreign key is checked by a plan made for a table of a few rows."""

COUNT = """
UPDATE prism_memory_scope SET vectors = vectors + %(rows)s
 WHERE tenant = %(tenant)s AND id = %(scope_id)s
"""


def space() -> Space:
    """Return the active space, which the first memory makes."""
    found = find_active(using="default", alias="default")
    assert found is not None
    return found


def seed(scope: Scope) -> Memory:
    """Return a memory whose scope and space exist, with one record of no matter."""
    memory = Memory(scope, origin=Origin(Trust.USER, "seed"))
    memory.remember("zzz", wait=True)
    return memory


def fill(
    scope: Scope,
    rows: int,
    *,
    text: str = "filler",
    visible: bool = True,
    near: str | None = None,
) -> None:
    """Put ``rows`` embedded records into a seeded scope.

    Args:
        text: Their words, each followed by a number.
        near: The vector of all of them; random ones when None.
    """
    given: dict[str, Any] = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "rows": rows,
        "text": text,
        "label": f"{text}-{near is not None}-{visible}-",
        "visible": visible,
        "near": near,
        "space_id": space().id,
        "dimensions": DIMENSIONS,
    }
    with connection.cursor() as cursor:
        for statement in (RECORDS, KNOWN, VECTORS, COUNT):
            cursor.execute(statement, given)


def analyze() -> None:
    """Let the planner know what there is."""
    with connection.cursor() as cursor:
        for table in ("record", "embedding", "scope"):
            cursor.execute(f"ANALYZE prism_memory_{table}")


def vacuum() -> None:
    """Bring the tables into the state that autovacuum leaves. Not in a transaction.

    Also those that are empty, whose statistics would be of tests before.
    """
    names = ("record", "embedding", "scope", "lineageedge", "tombstone", "source")
    tables = ", ".join(f"prism_memory_{name}" for name in names)
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (ANALYZE) {tables}")
