"""Lock a source of exactly one scope, whatever its kind."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from psycopg import sql

from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.errors import NotVisible
from prism_memory.types import Scope

ALONE: Final = sql.SQL("FOR UPDATE")


def find_source(
    *, using: str, scope: Scope, key: str, lock: sql.SQL
) -> Mapping[str, Any] | None:
    """Return the row of a source, if it is there. One query.

    Args:
        lock: Nothing, or how it is locked until the transaction ends.
    """
    given = {"tenant": scope.tenant, "scope_id": scope.id, "key": key}
    statement = composed("ingest", "document", lock=lock)
    return next(iter(queries.fetch(using, statement, given)), None)


def lock_source(*, using: str, scope: Scope, key: str) -> Mapping[str, Any]:
    """Return the row of a source, which nobody else writes to meanwhile.

    Raises:
        NotVisible: There is none.
    """
    row = find_source(using=using, scope=scope, key=key, lock=ALONE)
    if row is None:
        message = "No such source in this scope."
        raise NotVisible(message, field="key")
    return row


def source_ref(source_id: uuid.UUID) -> str:
    """Return how the audit and holds name a source."""
    return f"source:{source_id}"
