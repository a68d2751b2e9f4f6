"""Take vectors from records that leave: theirs, and their place in the counts."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection

from prism_memory.db import queries
from prism_memory.db.queries import named


def lock_embeddings(
    *, using: str, tenant: str, record_ids: Collection[uuid.UUID]
) -> Counter[uuid.UUID]:
    """Lock the vectors of records that leave, and mark their copies as gone. One query.

    Returns:
        How many of them the counts of vectors include, by scope: for ``discount``.
    """
    given = {"tenant": tenant, "record_ids": list(record_ids)}
    rows = queries.fetch(using, named("removal")["lock_embeddings"], given)
    return Counter({row["scope_id"]: row["counted"] for row in rows})


def drop_embeddings(
    *, using: str, tenant: str, record_ids: Collection[uuid.UUID]
) -> Counter[uuid.UUID]:
    """Delete the vectors of records, whose rows stay; return as ``lock_embeddings``.

    Two queries.
    """
    given = {"tenant": tenant, "record_ids": list(record_ids)}
    gone = lock_embeddings(using=using, tenant=tenant, record_ids=record_ids)
    queries.execute(using, named("removal")["drop_embeddings"], given)
    return gone


def discount(*, using: str, tenant: str, gone: Counter[uuid.UUID]) -> None:
    """Take vectors that went off the counts of their scopes. One query for each scope.

    After all that locks vectors: a drain holds some while it waits for the scope.
    """
    for scope_id in sorted(gone):
        given = {"tenant": tenant, "scope_id": scope_id, "gone": gone[scope_id]}
        queries.execute(using, named("removal")["discount_vectors"], given)
