"""System checks. Ids: E0xx errors, W0xx warnings; never reused."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final, cast

from django.conf import settings as django_settings
from django.core import checks
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections, router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.module_loading import import_string

from prism_memory import backends, indexing
from prism_memory.backends.registry import Backend
from prism_memory.conf import NAMESPACE, Setting, Settings, settings, user_settings
from prism_memory.db.languages import LANGUAGES
from prism_memory.db.queries import fetch
from prism_memory.errors import (
    EmbedderMismatch,
    Invalid,
    LimitExceeded,
    Misconfigured,
)
from prism_memory.models import Record
from prism_memory.recall.options import check_values
from prism_memory.recall.scoring import check_factors
from prism_memory.types import Options

OLDEST_PGVECTOR: Final = (0, 8)
"""Iterative index scans came with 0.8."""
OLDEST_POSTGRESQL: Final = 15_00_00
SCOPED: Final = {
    "prism_memory_scope": ("tenant", "owner", "agent", "thread"),
    "prism_memory_source": ("tenant", "scope_id"),
    "prism_memory_record": ("tenant", "scope_id"),
    "prism_memory_embedding": ("tenant", "scope_id"),
    "prism_memory_lineageedge": ("tenant",),
    "prism_memory_tombstone": ("tenant",),
    "prism_memory_run": ("tenant",),
    "prism_memory_auditevent": ("tenant",),
    "prism_memory_recalltrace": ("tenant", "scope_id", "owner", "agent", "thread"),
    "prism_memory_reinforcement": ("tenant",),
    "prism_memory_reinforcedquery": ("tenant",),
}

PROVIDERS: Final[tuple[tuple[str, str, Callable[[str], Backend]], ...]] = (
    ("RERANKERS", "RERANKER", backends.get_reranker),
    ("TRANSFORMERS", "TRANSFORMER", backends.get_transformer),
    ("GRADERS", "GRADER", backends.get_grader),
)
"""The setting of the aliases, that of the alias used, and what makes the backend."""


def register() -> None:
    """Register the checks, from the app's ``ready``."""
    checks.register(check_settings)
    checks.register(check_routing)
    checks.register(check_embedders)
    checks.register(check_providers)
    checks.register(check_traces)
    checks.register(check_database, checks.Tags.database)


def check_settings(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report unknown keys, wrong types and values outside their declared bounds."""
    return [
        *not_a_dict(),
        *unknown_keys(),
        *out_of_bounds(),
        *unknown_languages(),
        *unimportable(),
        *unusable_factors(),
        *unusable_defaults(),
    ]


def not_a_dict() -> Iterator[checks.CheckMessage]:
    if not isinstance(getattr(django_settings, NAMESPACE, {}), Mapping):
        yield checks.Error(
            f"{NAMESPACE} must be a dict, so all settings have their defaults.",
            id="prism_memory.E008",
        )


def unknown_keys() -> Iterator[checks.CheckMessage]:
    known = [setting.name for setting in Settings.declared()]
    for key in user_settings():
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            yield checks.Error(
                f"{NAMESPACE}[{key!r}] is not a setting.",
                hint=f"Did you mean {near[0]!r}?" if near else None,
                id="prism_memory.E001",
            )


def out_of_bounds() -> Iterator[checks.CheckMessage]:
    for setting in Settings.declared():
        value = getattr(settings, setting.name)
        low, high = setting.minimum, setting.maximum
        if not of_its_type(value, setting):
            yield checks.Error(
                f"{NAMESPACE}[{setting.name!r}] must be like {setting.default!r}.",
                hint=setting.help,
                id="prism_memory.E003",
            )
        elif low is not None and high is not None and not low <= value <= high:
            yield checks.Error(
                f"{NAMESPACE}[{setting.name!r}] must be in {low}..{high}, not {value}.",
                hint=setting.help,
                id="prism_memory.E002",
            )
        elif setting.choices and value not in setting.choices:
            choices = ", ".join(map(repr, setting.choices))
            yield checks.Error(
                f"{NAMESPACE}[{setting.name!r}] must be one of {choices}.",
                hint=setting.help,
                id="prism_memory.E014",
            )


def of_its_type(value: object, setting: Setting[Any]) -> bool:
    default = setting.default
    if isinstance(default, bool):
        return isinstance(value, bool)
    if isinstance(default, int | float):
        wanted = int if isinstance(default, int) else (int, float)
        return isinstance(value, wanted) and not isinstance(value, bool)
    if isinstance(default, tuple):
        if isinstance(value, str) or not isinstance(value, Sequence):
            return False
        return all(isinstance(item, str) for item in value)
    return isinstance(value, type(default))


def unknown_languages() -> Iterator[checks.CheckMessage]:
    for key, value in (
        ("LANGUAGE", [settings.LANGUAGE]),
        ("SEARCH_LANGUAGES", settings.SEARCH_LANGUAGES),
    ):
        for language in value:
            if language not in LANGUAGES:
                yield checks.Error(
                    f"{NAMESPACE}[{key!r}] names {language!r}, which PostgreSQL lacks.",
                    hint=f"There are {', '.join(LANGUAGES)}.",
                    id="prism_memory.E004",
                )


def unimportable() -> Iterator[checks.CheckMessage]:
    for key in ("REDACTOR", "IMPORTANCE_FROM", "API_RESOLVER"):
        path = getattr(settings, key)
        if not path or not isinstance(path, str):
            continue  # what is no text is reported as of another type
        try:
            import_string(path)
        except ImportError as error:
            yield checks.Error(
                f"{NAMESPACE}[{key!r}] cannot be imported: {error}",
                id="prism_memory.E005",
            )


def unusable_factors() -> Iterator[checks.CheckMessage]:
    factors: object = settings.TRUST_FACTORS
    if not isinstance(factors, Mapping):
        return  # what is no dict is reported as of another type
    try:
        check_factors(factors)
    except Invalid as error:
        yield checks.Error(
            f"{NAMESPACE}['TRUST_FACTORS'] cannot be used: {error}",
            id="prism_memory.E016",
        )


def unusable_defaults() -> Iterator[checks.CheckMessage]:
    """Report defaults of a search that no recall could take, or may (B370)."""
    defaults: object = settings.SEARCH_DEFAULTS
    if not isinstance(defaults, Mapping) or not defaults:
        return  # what is no dict is reported as of another type
    try:
        check_values(cast("Options", defaults))
    except (Invalid, LimitExceeded, Misconfigured) as error:
        yield checks.Error(
            f"{NAMESPACE}['SEARCH_DEFAULTS'] cannot be used: {error}",
            id="prism_memory.E030",
        )


def check_routing(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report a database that is not there, and tables that would be made elsewhere."""
    using: object = settings.DATABASE
    if not isinstance(using, str):
        return []  # check_settings says so
    if using not in list(connections):
        return [
            checks.Error(
                f"{NAMESPACE}['DATABASE'] is {using!r}, which is not in DATABASES.",
                hint=f"There are {', '.join(map(repr, connections))}.",
                id="prism_memory.E009",
            )
        ]
    return [*unmade_tables(using), *tables_elsewhere(using)]


def unmade_tables(using: str) -> Iterator[checks.CheckMessage]:
    if not router.allow_migrate_model(using, Record):
        yield checks.Error(
            f"DATABASE_ROUTERS keep the tables of prism_memory off {using!r}, which"
            f" {NAMESPACE}['DATABASE'] names.",
            hint="Let allow_migrate say True there; README.md shows a router.",
            id="prism_memory.E012",
        )


def tables_elsewhere(using: str) -> Iterator[checks.CheckMessage]:
    """Report that a plain ``migrate`` makes the tables where nobody reads them."""
    vendor = connections[DEFAULT_DB_ALIAS].vendor
    made = router.allow_migrate_model(DEFAULT_DB_ALIAS, Record)
    # A default database without an engine is "unknown"; nothing is migrated there.
    if using == DEFAULT_DB_ALIAS or not made or vendor == "unknown":
        return
    message = (
        f"migrate would make the tables of prism_memory in {DEFAULT_DB_ALIAS!r}"
        f" ({vendor}) too; they belong in {using!r} alone."
    )
    hint = "Add a router to DATABASE_ROUTERS; README.md shows one."
    if vendor == "postgresql":
        yield checks.Warning(message, hint=hint, id="prism_memory.W013")
    else:
        yield checks.Error(message, hint=hint, id="prism_memory.E010")


def check_embedders(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report embedders that cannot be made, and what each says of itself."""
    aliases: object = settings.EMBEDDERS
    if not isinstance(aliases, Mapping):
        return []  # check_settings says so
    if not aliases:
        return [
            checks.Warning(
                "No embedder is configured, so recall is by words alone.",
                hint=f"Set {NAMESPACE}['EMBEDDERS'].",
                id="prism_memory.W011",
            )
        ]
    if settings.EMBEDDER not in aliases:
        return [
            checks.Error(
                f"{NAMESPACE}['EMBEDDER'] is {settings.EMBEDDER!r}, which is not"
                " among EMBEDDERS.",
                id="prism_memory.E006",
            )
        ]
    return [message for alias in aliases for message in embedder_messages(alias)]


def embedder_messages(alias: str) -> list[checks.CheckMessage]:
    try:
        return backends.get_embedder(alias).check()
    except Misconfigured as error:
        return [checks.Error(str(error), id="prism_memory.E007")]


def check_providers(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report backends beside the embedders that cannot be made, and what each says."""
    return [
        message
        for aliases, chosen, get in PROVIDERS
        if isinstance(
            getattr(settings, aliases), Mapping
        )  # else check_settings says so
        for message in provider_messages(aliases, chosen, get)
    ]


def provider_messages(
    aliases: str, chosen: str, get: Callable[[str], Backend]
) -> Iterator[checks.CheckMessage]:
    known, alias = getattr(settings, aliases), getattr(settings, chosen)
    if alias and alias not in known:
        yield checks.Error(
            f"{NAMESPACE}[{chosen!r}] is {alias!r}, which is not among {aliases}.",
            id="prism_memory.E018",
        )
    for name in known:
        try:
            yield from get(name).check()
        except Misconfigured as error:
            yield checks.Error(str(error), id="prism_memory.E019")


def check_traces(**kwargs: Any) -> list[checks.CheckMessage]:
    """Warn when recalls shall leave traces that nobody writes."""
    if settings.TRACES == "off" or find_spec("celery"):
        return []
    return [
        checks.Warning(
            f"{NAMESPACE}['TRACES'] is {settings.TRACES!r}, but Celery is not"
            " installed, so no trace is written.",
            hint="Install it, or write them from a receiver of signals.trace_wanted;"
            " docs/traces.md shows one.",
            id="prism_memory.W028",
        )
    ]


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
        embedder = backends.get_embedder(alias)
    except Misconfigured:
        return  # check_embedders says so
    try:
        space = indexing.known_space(
            using=using, alias=alias, identity=embedder.identity, fresh=True
        )
    except EmbedderMismatch as error:
        yield checks.Error(str(error), id="prism_memory.E026")
        return
    if space is not None and space.indexed:
        yield from index_messages(using, space)


def index_messages(using: str, space: indexing.Space) -> Iterator[checks.CheckMessage]:
    state = indexing.index_state(using=using, space=space)
    if not state.valid:
        what = "is invalid" if state.exists else "is gone"
        yield checks.Warning(
            f"The vector index {state.name} {what}; recall stays right and gets slow.",
            hint="Run prism_memory_index create.",
            id="prism_memory.W027",
        )
