"""Who may read a document, as it is set."""

from __future__ import annotations

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import NotVisible
from prism_memory.types import AccessGrant, Scope


def read_access(
    *, using: str, scope: Scope, key: str
) -> tuple[AccessGrant, ...] | None:
    """Return the grants of a source of exactly ``scope``; None: it is not restricted.

    One query.

    Raises:
        NotVisible: No such source.
    """
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "key": key,
    }
    rows = queries.fetch(using, named("source_access")["listed"], given)
    if not rows:
        raise NotVisible(field="key")
    if not rows[0]["restricted"]:
        return None
    return tuple(
        AccessGrant(row["principal"], row["group_name"], row["access_version"])
        for row in rows
        if row["access_version"] is not None
    )
