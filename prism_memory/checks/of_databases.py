"""Whether a database can hold memories. Run by ``check --database``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from django.core import checks
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.db.queries import fetch
from prism_memory.errors import (
    EmbedderMismatch,
    Misconfigured,
)

OLDEST_PGVECTOR: Final = (0, 8)
"""Iterative index scans came with 0.8."""
OLDEST_POSTGRESQL: Final = 15_00_00
SCOPED: Final = {
    "prism_memory_scope": ("tenant", "owner", "agent", "thread"),
    "prism_memory_source": ("tenant", "scope_id"),
    "prism_memory_sourceaccess": ("tenant",),
    "prism_memory_record": ("tenant", "scope_id"),
    "prism_memory_fact": ("tenant", "scope_id"),
    "prism_memory_factversion": ("tenant",),
    "prism_memory_evidence": ("tenant",),
    "prism_memory_review": ("tenant", "scope_id"),
    "prism_memory_conflictdecision": ("tenant", "scope_id"),
    "prism_memory_entity": ("tenant", "scope_id"),
    "prism_memory_entitymerge": ("tenant", "scope_id"),
    "prism_memory_mention": ("tenant",),
    "prism_memory_embedding": ("tenant", "scope_id"),
    "prism_memory_vectorcopy": ("tenant", "scope_id"),
    "prism_memory_lineageedge": ("tenant",),
    "prism_memory_tombstone": ("tenant", "scope_id"),
    "prism_memory_run": ("tenant",),
    "prism_memory_reading": ("tenant",),
    "prism_memory_auditevent": ("tenant",),
    "prism_memory_auditseal": ("tenant",),
    "prism_memory_manifestblock": ("tenant",),
    "prism_memory_consentgrant": ("tenant",),
    "prism_memory_erasurereceipt": ("tenant",),
    "prism_memory_legalhold": ("tenant", "owner", "agent", "thread"),
    "prism_memory_retentionpolicy": ("tenant",),
    "prism_memory_sharegrant": ("tenant", "owner"),
    "prism_memory_sharegrantitem": ("tenant",),
    "prism_memory_recalltrace": ("tenant", "scope_id", "owner", "agent", "thread"),
    "prism_memory_reinforcement": ("tenant",),
    "prism_memory_reinforcedquery": ("tenant",),
}


def check_database(
    databases: Sequence[str] | None = None, **kwargs: Any
) -> list[checks.CheckMessage]:
    """Report a database that cannot hold memories. Run by ``check --database``."""
    using = settings.DATABASE
    if using not in (databases or ()):
        return []
    connection = connections[using]
    if connection.vendor != "postgresql":
        message = f"The database {using!r} is {connection.vendor}, not PostgreSQL."
        return [checks.Error(message, id="prism_memory.E020")]
    try:
        return [*server_messages(connection), *table_messages(using)]
    except DatabaseError as error:
        name = type(error).__name__
        message = f"The database {using!r} cannot be asked ({name})."
        return [checks.Error(message, id="prism_memory.E021")]


def server_messages(connection: BaseDatabaseWrapper) -> Iterator[checks.CheckMessage]:
    version = connection.pg_version  # type: ignore[attr-defined] # PostgreSQL's own
    if version < OLDEST_POSTGRESQL:
        message = "PostgreSQL 15 or newer is needed."
        yield checks.Error(message, id="prism_memory.E022")
    rows = fetch(
        connection.alias,
        "SELECT available.default_version AS available, extension.extversion AS made"
        "  FROM pg_available_extensions AS available"
        "  LEFT JOIN pg_extension AS extension ON extension.extname = available.name"
        " WHERE available.name = 'vector'",
        {},
    )
    if not rows:
        yield checks.Error(
            "The PostgreSQL server has no pgvector.",
            hint="Install pgvector 0.8 or newer on the server.",
            id="prism_memory.E023",
        )
    for row in rows:
        yield from extension_messages(row["available"], row["made"])


def extension_messages(
    available: str, made: str | None
) -> Iterator[checks.CheckMessage]:
    if version_of(made or available) < OLDEST_PGVECTOR:
        yield checks.Error(
            f"pgvector is {made or available}; 0.8 or newer is needed.",
            hint="Update it and run ALTER EXTENSION vector UPDATE.",
            id="prism_memory.E024",
        )


def version_of(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


def table_messages(using: str) -> Iterator[checks.CheckMessage]:
    columns = table_columns(using)
    if not columns:
        return  # ``migrate`` runs these checks before it makes the tables
    for table, wanted in SCOPED.items():
        if table not in columns:
            yield checks.Warning(
                f"There is no table {table} yet.",
                hint="Run manage.py migrate.",
                id="prism_memory.W029",
            )
            continue  # an error would keep ``migrate`` from making it
        missing = sorted(set(wanted) - columns[table])
        if missing:
            yield checks.Error(
                f"The table {table} lacks {', '.join(missing)}, so rows have no scope.",
                id="prism_memory.E025",
            )
    yield from space_messages(using)


def table_columns(using: str) -> dict[str, set[str]]:
    rows = fetch(
        using,
        "SELECT class.relname AS table, attribute.attname AS column"
        "  FROM pg_attribute AS attribute"
        "  JOIN pg_class AS class ON class.oid = attribute.attrelid"
        " WHERE class.oid = ANY(SELECT to_regclass(name) FROM unnest(%(names)s::text[])"
        "                         AS name)"
        "   AND attribute.attnum > 0 AND NOT attribute.attisdropped",
        {"names": list(SCOPED)},
    )
    columns: dict[str, set[str]] = {}
    for row in rows:
        columns.setdefault(row["table"], set()).add(row["column"])
    return columns


def space_messages(using: str) -> Iterator[checks.CheckMessage]:
    alias, aliases = settings.EMBEDDER, cast("object", settings.EMBEDDERS)
    if not isinstance(aliases, Mapping) or alias not in aliases:
        return  # check_embedders says so
    try:
        space = indexing.known_space(using=using, alias=alias, fresh=True)
    except Misconfigured as error:
        yield from backend_messages(alias, error)
        return
    except EmbedderMismatch as error:
        yield changed_message(error)
        return
    if space is not None and space.situate not in {"", settings.SITUATE}:
        yield checks.Warning(
            f"Texts were indexed with SITUATE {space.situate}; what is written now is"
            f" indexed with {settings.SITUATE}.",
            hint="Run prism_memory_index rebuild.",
            id="prism_memory.W034",
        )
    if space is not None and space.indexed:
        yield from index_messages(using, space)


def changed_message(error: EmbedderMismatch) -> checks.CheckMessage:
    """Tell of another embedder: an error where it is refused, else a warning (B487)."""
    if settings.EMBEDDER_CHANGED == "refuse":
        return checks.Error(str(error), id="prism_memory.E026")
    return checks.Warning(
        f"{error} Until then recall goes by words alone.",
        hint="prism_memory_index rebuild --to names the new one.",
        id="prism_memory.W035",
    )


def backend_messages(alias: str, error: Misconfigured) -> Iterator[checks.CheckMessage]:
    """Tell of vectors whose embedder has gone; of the alias's own others tell."""
    space = indexing.find_active(using=settings.DATABASE, alias=alias)
    if space is not None and space.entry not in settings.EMBEDDERS:
        yield checks.Error(
            f"The vectors of {alias!r} are those of EMBEDDERS[{space.entry!r}], which"
            f" there is not. {error}",
            hint="Put the entry back, or give the alias's own the same embedder.",
            id="prism_memory.E033",
        )


def index_messages(using: str, space: indexing.Space) -> Iterator[checks.CheckMessage]:
    state = indexing.index_state(using=using, space=space)
    if not state.valid:
        what = "is invalid" if state.exists else "is gone"
        yield checks.Warning(
            f"The vector index {state.name} {what}; recall stays right and gets slow.",
            hint="Run prism_memory_index create.",
            id="prism_memory.W027",
        )
