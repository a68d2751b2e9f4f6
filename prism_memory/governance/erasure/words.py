"""Look for words in every column of a table, in the rows of a tenant."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

from django.db import connections
from django.db.models import Model
from psycopg import sql

from prism_memory.models import EmbeddingSpace, Tenant

OF_NO_TENANT: Final[frozenset[type[Model]]] = frozenset({EmbeddingSpace})
"""Tables that belong to all tenants: the names of models, and of who provides them."""

OWNED_BY: Final[dict[type[Model], str]] = {Tenant: "name"}
"""The column that says whose a row is, where it is not ``tenant``."""

COMPOSED: Final = ("NFC", "NFD")


def wanted(lines: Iterable[str]) -> list[str]:
    """Return the words of some lines, each once, without the space around them."""
    stripped = (line.strip("\ufeff \t\r\n") for line in lines)
    return [word for word in dict.fromkeys(stripped) if word]


def forms(words: Iterable[str]) -> list[str]:
    """Return how the words may be written: in either case, composed or not."""
    cased = (
        form
        for word in words
        for form in (word, word.lower(), word.upper(), word.title(), word.casefold())
    )
    composed = (unicodedata.normalize(how, form) for form in cased for how in COMPOSED)
    return list(dict.fromkeys(composed))


def count_in(
    using: str, model: type[Model], tenant: str, words: Sequence[str]
) -> dict[str, int]:
    """Count the rows of a tenant by the column that holds a word. One statement.

    Args:
        tenant: Empty for the installation's rows.
    """
    table = model._meta.db_table  # noqa: SLF001 - Django has no other name for it
    columns = _columns(using, table)
    owner = OWNED_BY.get(model, "tenant")
    if model in OF_NO_TENANT or owner not in dict(columns):
        return {}
    counts = [
        sql.SQL("count(*) FILTER (WHERE {})").format(_holds(name, kind))
        for name, kind in columns
    ]
    statement = sql.SQL(
        "SELECT {} FROM {} AS searched WHERE searched.{} = %(tenant)s"
    ).format(sql.SQL(", ").join(counts), sql.Identifier(table), sql.Identifier(owner))
    given = {"tenant": tenant, **_parameters(words)}
    with connections[using].cursor() as cursor:
        cursor.execute(statement.as_string(None), given)
        row = cursor.fetchone()
    return {name: n for (name, _), n in zip(columns, row, strict=True)}


def _parameters(words: Sequence[str]) -> dict[str, Any]:
    written = forms(words)
    # In JSON a word stands with its quotes and backslashes escaped.
    escaped = [json.dumps(word, ensure_ascii=False)[1:-1] for word in written]
    return {"words": written, "escaped": escaped}


def _columns(using: str, table: str) -> list[tuple[str, str]]:
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute"
            " WHERE attrelid = %(table)s::regclass AND attnum > 0 AND NOT attisdropped"
            " ORDER BY attnum",
            {"table": table},
        )
        return [(str(name), str(kind)) for name, kind in cursor.fetchall()]


def _holds(name: str, kind: str) -> sql.Composable:
    """Return whether a column holds one of the words, as SQL."""
    column = sql.SQL("searched.{}").format(sql.Identifier(name))
    if kind == "bytea":
        text = sql.SQL("position(convert_to(word, 'UTF8') IN {}) > 0").format(column)
        return _any(text, "words")
    if kind == "tsvector":
        # As they stand: by their stems, a universe would be a university.
        text = sql.SQL(
            "strpos({0}::text, word) > 0 OR {0} @@ phraseto_tsquery('simple', word)"
        ).format(column)
        return _any(text, "words")
    text = sql.SQL(
        "strpos({0}::text, word) > 0 OR strpos(lower({0}::text), word) > 0"
    ).format(column)
    return _any(text, "escaped" if kind == "jsonb" else "words")


def _any(condition: sql.Composable, words: str) -> sql.Composable:
    given = sql.SQL(f"%({words})s::text[]")
    return sql.SQL("EXISTS (SELECT FROM unnest({}) AS word WHERE {})").format(
        given, condition
    )
