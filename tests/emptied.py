"""How the tables are emptied after a test that really committed."""

from __future__ import annotations

from typing import Any

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

KEPT = {"django_content_type", "auth_permission"}
"""What migrating made and no test changes."""

FEW_BYTES = 16 * 8_192
"""Above it a table is truncated: what deleting leaves in a file changes plans."""

WRITTEN = """
SELECT relname, pg_relation_size(oid) FROM pg_class
WHERE relname = ANY(%s) AND relnamespace = current_schema()::regnamespace
  AND pg_relation_size(oid) > 0
ORDER BY relname
"""


def empty_tables(case: Any) -> None:
    """Empty what was written to, as a ``TransactionTestCase`` does when it ends.

    Django truncates every table with its indexes, and makes content types and
    permissions anew: a quarter of a second, after each of some hundred tests.
    """
    for name in case._databases_names(include_mirrors=False):
        connection = connections[name]
        sizes = _written(connection)
        if max(sizes.values(), default=0) > FEW_BYTES:
            _run(connection, "TRUNCATE {} CASCADE", [list(sizes)])
        elif sizes:
            with transaction.atomic(using=name):
                # In any order, and past triggers that keep an audit from deletion.
                _run(connection, "SET LOCAL session_replication_role = replica", [[]])
                _run(connection, "DELETE FROM {}", [[table] for table in sizes])


def _written(connection: BaseDatabaseWrapper) -> dict[str, int]:
    known = connection.introspection.django_table_names(include_views=False)
    with connection.cursor() as cursor:
        cursor.execute(WRITTEN, [sorted({*known} - KEPT)])
        return dict(cursor.fetchall())


def _run(connection: BaseDatabaseWrapper, text: str, groups: list[list[str]]) -> None:
    with connection.cursor() as cursor:
        for group in groups:
            tables = sql.SQL(", ").join(map(sql.Identifier, group))
            cursor.execute(sql.SQL(text).format(tables).as_string(None))
