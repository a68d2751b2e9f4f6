"""Whether this installation can serve: for probes, so quick and free of secrets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import Error
from django.db.migrations.loader import MigrationLoader

from prism_memory import backends
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Misconfigured

APP = "prism_memory"


@dataclass(frozen=True)
class Check:
    """One thing that serving needs.

    Args:
        ready: It is there.
        reason: Why not, in fixed words.
    """

    name: str
    ready: bool
    reason: str


def readiness() -> list[Check]:
    """Return every check. Three queries, or one that fails."""
    alive = bool(_asked("alive"))
    extension = alive and bool(_asked("vector_extension"))
    migrated = alive and _migrations_are_applied()
    embedder = _embedder_is_configured()
    return [
        Check("database", alive, "The database does not answer."),
        Check("extension", extension, "The extension vector is not there."),
        Check("migrations", migrated, "Migrations are not applied."),
        Check("embedder", embedder, "No usable embedder is configured."),
    ]


def _asked(statement: str) -> list[dict[str, Any]]:
    try:
        return queries.fetch(
            settings.DATABASE, named("health")[statement], {"app": APP}
        )
    except Error:
        return []


def _migrations_are_applied() -> bool:
    applied = {row["name"] for row in _asked("applied_migrations")}
    return known_migrations() <= applied


@cache
def known_migrations() -> frozenset[str]:
    """Return the names of this app's migrations."""
    disk = MigrationLoader(None).disk_migrations or {}
    return frozenset(name for app, name in disk if app == APP)


def _embedder_is_configured() -> bool:
    try:
        backends.get_embedder(settings.EMBEDDER)
    except Misconfigured:
        return False
    return True
