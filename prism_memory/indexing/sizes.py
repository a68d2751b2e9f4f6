"""How much room the tables take."""

from __future__ import annotations

from prism_memory.db import queries
from prism_memory.db.queries import named


def table_sizes(*, using: str) -> dict[str, int]:
    """Return the bytes of the large tables, their indexes included. One query."""
    rows = queries.fetch(using, named("indexing")["table_sizes"], {})
    return {row["name"]: row["bytes"] for row in rows}
