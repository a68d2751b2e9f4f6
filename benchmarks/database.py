"""A database for one run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

import django
import psycopg
from django.core.management import call_command
from django.db import connections
from psycopg import sql

from example_project.embedded import Services, database_url

SERVICES: Final = "bench"
"""A server of its own, with the settings of a real one: nothing is traded for speed."""


@contextmanager
def fresh_database(name: str, *, keep: bool) -> Iterator[None]:
    """Have Django set up on a new, migrated database; drop it after the block.

    Args:
        keep: Leave the database, and say where it is.
    """
    os.environ.setdefault("PRISM_SERVICES", SERVICES)
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.settings"
    with Services().running():
        server = database_url()
        database = f"prism_bench_{name}_{os.getpid()}"
        _run(server, "CREATE DATABASE {}", database)
        before = os.environ.get("DATABASE_URL")
        os.environ["DATABASE_URL"] = url_of(server, database)
        try:
            django.setup()
            call_command("migrate", verbosity=0)
            yield
        finally:
            connections.close_all()
            kept = os.environ.pop("DATABASE_URL")
            if before is not None:
                os.environ["DATABASE_URL"] = before
            if keep:
                print(f"kept: {kept}")
            else:
                _run(server, "DROP DATABASE {} WITH (FORCE)", database)


def url_of(server: str, database: str) -> str:
    """Return the URL of another database of the same server."""
    parts = urlsplit(server)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}/{database}{query}"


def _run(server: str, statement: str, database: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(database)))
