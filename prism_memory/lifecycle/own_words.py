"""The bare words that a fact was remembered by: a record that it alone cites."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from prism_memory.db import queries
from prism_memory.db.queries import named


def own_words(*, using: str, tenant: str, ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Return the records of the bare words of some facts. One query.

    They hold the same text, out of search: where a fact is deleted, they go too.
    """
    return set(own_words_of(using=using, tenant=tenant, ids=ids).values())


def own_words_of(
    *, using: str, tenant: str, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, uuid.UUID]:
    """Return which record holds the bare words of each fact that has one. One query."""
    given = {"tenant": tenant, "record_ids": list(ids)}
    rows = queries.fetch(using, named("removal")["own_words"], given)
    return {row["fact_id"]: row["id"] for row in rows}
