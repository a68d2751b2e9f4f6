"""Prove that nothing of an erased target is left in the app's tables and exports.

Two looks: for rows that bear the names or the id of the target where the registry says
that they go, and for files of exports that may hold it; and for words that the operator
kept, in every column of every table, and in every file of the tenant's exports.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.apps import apps
from django.db import connections
from django.db.models import Model, Q
from psycopg import sql

from prism_memory.db.tenancy import for_tenant
from prism_memory.governance.erasure.copies import EXPORTS
from prism_memory.governance.erasure.files_left import count_files, count_files_with
from prism_memory.governance.erasure.target import Target, find, named_tables
from prism_memory.lifecycle.registry import (
    ERASURE,
    Kept,
    WithRecord,
    WithScope,
    WithSource,
)
from prism_memory.models import Record, Source
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import ErasureLevel, Scope

OUTSIDE: Final = (
    "Rows that are deleted stay in the files of the tables until VACUUM.",
    "The write-ahead log, its archive and replicas that lag hold what was written.",
    "Backups and snapshots hold it until they are gone.",
    "What was disclosed before: exports that were downloaded, answers, prompts.",
    "Logs and stores of the providers that embedded, reranked or graded it.",
    "The host's own tables, logs, caches, and the results its Celery keeps.",
)
"""What lies outside of what this look, or the database itself, has power over."""


@dataclass(frozen=True)
class Leftover:
    """Rows that are still there.

    Args:
        place: Table and column, or ``exports``.
        rows: How many; of ``exports``, files.
        why: ``target``, or ``words`` that were searched for.
    """

    place: str
    rows: int
    why: str


@for_tenant
def leftovers(
    *,
    using: str,
    scope: Scope,
    record_id: uuid.UUID | None = None,
    source_key: str | None = None,
    words: Sequence[str] = (),
) -> list[Leftover]:
    """Return what is left of a target, and where words still stand in its tenant.

    Reads every table of the app, row by row where words are given, and then every file
    of the tenant's exports too. What a hold keeps is
    found too: the receipt says that it was kept.

    Args:
        words: Searched for literally, in every column of whatever type.

    Raises:
        Invalid: As ``erase``.
        Misconfigured: The storage of exports failed.
    """
    target = find(using=using, scope=scope, record_id=record_id, source_key=source_key)
    found = [
        *_of_target(using, target),
        Leftover(EXPORTS, count_files(using=using, target=target), "target"),
        *_of_words(using, target.tenant, words),
    ]
    return [one for one in found if one.rows]


def _of_target(using: str, target: Target) -> Iterator[Leftover]:
    if target.is_scope:
        yield from _of_scope(using, target)
    elif target.level is ErasureLevel.SOURCE:
        yield _counted(using, Source, Q(tenant=target.tenant, id=target.id), "id")
        for model, how in ERASURE.items():
            if isinstance(how, WithSource) or model is Record:
                column = how.column if isinstance(how, WithSource) else "source_id"
                where = Q(**{"tenant": target.tenant, column: target.id})
                yield _counted(using, model, where, column)
    else:
        for model, how in ERASURE.items():
            if isinstance(how, WithRecord):
                where = Q(**{"tenant": target.tenant, how.column: target.id})
                yield _counted(using, model, where, how.column)


def _of_scope(using: str, target: Target) -> Iterator[Leftover]:
    tables: list[type[Model]] = [ScopeRow, *named_tables()]
    for model in tables:
        yield _counted(using, model, target.by_names(), "owner")
    places = ScopeRow.objects.using(using).filter(target.by_names())
    ids = [*places.values_list("id", flat=True), target.scope.id]
    for model, how in ERASURE.items():
        if isinstance(how, Kept) or model is ScopeRow:
            continue
        named = set(how.columns) if isinstance(how, WithScope) else set()
        for column in sorted(named | (_column_names(model) & {"scope_id"})):
            where = Q(**{"tenant": target.tenant, f"{column}__in": ids})
            yield _counted(using, model, where, column)


def _column_names(model: type[Model]) -> set[str]:
    return {str(field.column) for field in model._meta.concrete_fields}  # noqa: SLF001


def _counted(using: str, model: type[Model], where: Q, column: str) -> Leftover:
    rows = model._base_manager.using(using).filter(where)  # noqa: SLF001
    table = model._meta.db_table  # noqa: SLF001 - Django has no other name for it
    return Leftover(f"{table}.{column}", rows.count(), "target")


def _of_words(using: str, tenant: str, words: Sequence[str]) -> Iterator[Leftover]:
    wanted = [word for word in dict.fromkeys(words) if word.strip()]
    if not wanted:
        return
    for model in apps.get_app_config("prism_memory").get_models():
        yield from _of_table(using, model, tenant, wanted)
    files = count_files_with(using=using, tenant=tenant, words=wanted)
    yield Leftover(EXPORTS, files, "words")


def _of_table(
    using: str, model: type[Model], tenant: str, words: Sequence[str]
) -> Iterator[Leftover]:
    """Search all columns of one table, in one statement."""
    table = model._meta.db_table  # noqa: SLF001
    columns = _columns(using, table)
    counts = [
        sql.SQL("count(*) FILTER (WHERE {})").format(_holds(name, kind))
        for name, kind in columns
    ]
    mine = (
        sql.SQL("searched.tenant = %(tenant)s")
        if ("tenant", "text") in columns
        else sql.SQL("TRUE")
    )
    statement = sql.SQL("SELECT {} FROM {} AS searched WHERE {}").format(
        sql.SQL(", ").join(counts), sql.Identifier(table), mine
    )
    # In JSON a word stands with its quotes and backslashes escaped.
    escaped = [json.dumps(word, ensure_ascii=False)[1:-1] for word in words]
    given: dict[str, Any] = {"tenant": tenant, "words": list(words), "escaped": escaped}
    with connections[using].cursor() as cursor:
        cursor.execute(statement.as_string(None), given)
        row = cursor.fetchone()
    for (name, _), count in zip(columns, row, strict=True):
        yield Leftover(f"{table}.{name}", count, "words")


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
        text = sql.SQL(
            "strpos({0}::text, lower(word)) > 0"
            " OR {0} @@ phraseto_tsquery('english', word)"
            " OR {0} @@ phraseto_tsquery('simple', word)"
        ).format(column)
        return _any(text, "words")
    text = sql.SQL("strpos({}::text, word) > 0").format(column)
    return _any(text, "escaped" if kind == "jsonb" else "words")


def _any(condition: sql.Composable, words: str) -> sql.Composable:
    given = sql.SQL(f"%({words})s::text[]")
    return sql.SQL("EXISTS (SELECT FROM unnest({}) AS word WHERE {})").format(
        given, condition
    )
