"""Named SQL, read from ``db/sql/*.sql``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import resources
from typing import Any, Final

from django.db import connections
from psycopg import sql

from prism_memory.db.tenancy import acting_for
from prism_memory.types import Vector

_HEADER: Final = re.compile(r"^-- name: (?P<name>[a-z0-9_]+)\n", re.MULTILINE)
_COMMENT: Final = re.compile(r"^\s*--.*\n", re.MULTILINE)


@cache
def named(file: str) -> dict[str, str]:
    """Return the statements of ``db/sql/<file>.sql`` keyed by their names.

    Raises:
        FileNotFoundError: No such file in the package.
    """
    text = (resources.files("prism_memory.db.sql") / f"{file}.sql").read_text("utf-8")
    parts = _HEADER.split(text)[1:]
    bodies = (_COMMENT.sub("", body).strip().removesuffix(";") for body in parts[1::2])
    return dict(zip(parts[::2], bodies, strict=True))


def composed(file: str, name: str, /, **parts: sql.Composable | int) -> str:
    """Return a statement with its ``{parts}`` filled.

    Args:
        parts: Fragments of our own, and integers where PostgreSQL takes no parameter
            (a type's width, a partial index's constant).
    """
    filled = {
        key: sql.Literal(value) if isinstance(value, int) else value
        for key, value in parts.items()
    }
    return sql.SQL(named(file)[name]).format(**filled).as_string(None)


def fetch(
    using: str, statement: str, parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Run a statement, for the tenant that it names, and return its rows as dicts."""
    with _acting(parameters), connections[using].cursor() as cursor:
        cursor.execute(statement, parameters)
        names = [column.name for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def execute(using: str, statement: str, parameters: Mapping[str, Any]) -> int:
    """Run a statement, for the tenant that it names; return the rows it touched."""
    with _acting(parameters), connections[using].cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def _acting(parameters: Mapping[str, Any]) -> AbstractContextManager[None]:
    tenant = parameters.get("tenant")
    return nullcontext() if tenant is None else acting_for(tenant)


def vector_text(vector: Vector) -> str:
    """Return a vector as PostgreSQL reads it."""
    # One format for all is twice as quick as one for each.
    return f"[{','.join(['%.6g'] * len(vector)) % tuple(vector)}]"
