"""Make sure that there is a row for a scope."""

from __future__ import annotations

import datetime as dt
from typing import Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict
from prism_memory.types import Scope

TRIES: Final = 100
"""Erasures of one scope that a writer meets in a row, at most."""


def ensure_scope(*, using: str, scope: Scope, at: dt.datetime) -> None:
    """Store the scope and its tenant unless they are there. One query, or four.

    It stays there until the transaction ends: who erases it waits.

    Raises:
        Conflict: Another scope has this scope's id, or the scope is erased again and
            again.
    """
    sql = named("remember")
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "at": at,
    }
    stored = queries.fetch(using, sql["scope_names"], given)
    tries = 0
    while not stored and tries < TRIES:  # one that was there may just be erased
        queries.execute(using, sql["ensure_tenant"], given)
        queries.execute(using, sql["ensure_scope"], given)
        stored = queries.fetch(using, sql["scope_names"], given)
        tries += 1
    if not stored:
        message = "The scope was erased each time it was made; try again."
        raise Conflict(message, field="scope")
    if any(row[level] != given[level] for row in stored for level in row):
        message = "Another scope has this scope's id."
        raise Conflict(message, field="scope")
