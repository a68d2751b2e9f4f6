"""Which records went, or came back, without the audit saying so."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from psycopg import sql

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import composed, named


def unaccounted(
    using: str, tenant: str, record_ids: Sequence[uuid.UUID]
) -> list[uuid.UUID]:
    """Return those of the ids that no deletion accounts for. One query, or none."""
    if not record_ids:
        return []
    return _asked("unaccounted", using, tenant, record_ids)


def back(using: str, tenant: str, record_ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Return those of the records that the audit says were deleted. One query."""
    return _asked("back", using, tenant, record_ids)


def _asked(
    name: str, using: str, tenant: str, record_ids: Sequence[uuid.UUID]
) -> list[uuid.UUID]:
    deletions = sql.SQL(named("audit")["deletions"])
    given = {
        "tenant": tenant,
        "record_ids": list(record_ids),
        "deletions": list(audit.DELETIONS),
    }
    rows = queries.fetch(using, composed("audit", name, deletions=deletions), given)
    return [row["id"] for row in rows]
