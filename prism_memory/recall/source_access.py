"""Who may read a document, as it is set."""

from __future__ import annotations

from prism_memory.access import Reader, readable
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.errors import NotVisible
from prism_memory.types import AccessGrant


def read_access(
    *, using: str, reader: Reader, key: str
) -> tuple[AccessGrant, ...] | None:
    """Return the grants of a source; None: it is not restricted. One query.

    Args:
        reader: Of exactly their scope.

    Raises:
        NotVisible: No such source, or the reader may not know of it.
    """
    scope = reader.scope
    given = {
        **reader.parameters(),
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "key": key,
    }
    statement = composed("source_access", "listed", readable=readable(reader=reader))
    rows = queries.fetch(using, statement, given)
    if not rows:
        raise NotVisible(field="key")
    if not rows[0]["restricted"]:
        return None
    return tuple(
        AccessGrant(row["principal"], row["group_name"], row["access_version"])
        for row in rows
        if row["access_version"] is not None
    )
