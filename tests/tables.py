"""Look at every table of the app at once."""

from __future__ import annotations

from django.apps import apps
from django.db import connection
from psycopg import sql

from tests.capture import tenant_models


def table_names() -> list[str]:
    """Return the tables of all models."""
    models = apps.get_app_config("prism_memory").get_models()
    return [model._meta.db_table for model in models]


def make_fresh() -> None:
    """Take away what tests before left in files and indexes, which changes plans.

    Of every tenant's table: tombstones hang on no scope, and thirty that another module
    committed are read as a whole sooner than looked up. In a transaction that is rolled
    back, it comes back.
    """
    tables = [sql.Identifier(model._meta.db_table) for model in tenant_models()]
    query = sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(tables))
    with connection.cursor() as cursor:
        cursor.execute(query.as_string(None))


def counts() -> dict[str, int]:
    """Return how many rows each table holds, but for spaces, which hold no content."""
    names = sorted(set(table_names()) - {"prism_memory_embeddingspace"})
    return _counts(names, sql.SQL("TRUE"))


def holding(text: str) -> list[str]:
    """Return the tables of which some row holds a text in any column, or its bytes."""
    word = sql.SQL("strpos(row_to_json(t)::text, {}) > 0").format(sql.Literal(text))
    octets = sql.SQL("strpos(row_to_json(t)::text, {}) > 0").format(
        sql.Literal(text.encode().hex())
    )
    either = sql.SQL("{} OR {}").format(word, octets)
    found = _counts(table_names(), either)
    return [name for name, count in found.items() if count]


def physical(table: str, tenant: str) -> set[tuple[str, str]]:
    """Return (ctid, xmin) of a tenant's rows: an update changes both."""
    query = sql.SQL("SELECT ctid::text, xmin::text FROM {} WHERE tenant = {}").format(
        sql.Identifier(table), sql.Literal(tenant)
    )
    with connection.cursor() as cursor:
        cursor.execute(query.as_string(None))
        return set(cursor.fetchall())


def _counts(tables: list[str], condition: sql.Composable) -> dict[str, int]:
    """Return how many rows of each table there are; one query."""
    each = sql.SQL("(SELECT count(*) FROM {} AS t WHERE {})")
    found = [each.format(sql.Identifier(name), condition) for name in tables]
    query = sql.SQL("SELECT {}").format(sql.SQL(", ").join(found))
    with connection.cursor() as cursor:
        cursor.execute(query.as_string(None))
        return dict(zip(tables, map(int, cursor.fetchone()), strict=True))
