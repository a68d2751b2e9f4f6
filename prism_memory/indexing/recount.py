"""Count the vectors of scopes anew, as the planner of recall reads them."""

from __future__ import annotations

from django.db import transaction

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.indexing.spaces import Space


def recount(*, using: str, tenant: str, space: Space) -> int:
    """Count the vectors of a tenant's scopes anew; return how many were off.

    Right beside who writes and who deletes. Nothing for a space that does not answer:
    what is counted is the one that does. One query, and two for each that was off.
    """
    given = {"tenant": tenant, "space_id": space.id}
    sql = named("indexing")
    off = 0
    for row in queries.fetch(using, sql["miscounted_scopes"], given):
        of_scope = {**given, "scope_id": row["id"]}
        with transaction.atomic(using=using):
            queries.fetch(using, sql["lock_scope"], of_scope)
            off += queries.execute(using, sql["recount_vectors"], of_scope)
    return off
