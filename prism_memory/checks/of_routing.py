"""Whether the tables are where they are looked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core import checks
from django.db import DEFAULT_DB_ALIAS, connections, router

from prism_memory.conf import NAMESPACE, settings
from prism_memory.models import Record


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
