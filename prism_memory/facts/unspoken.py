"""Drop names that no fact says any more: who purged a fact wanted its words gone.

It waits for nobody, and nobody waits long for it: a page at a time, and what a writer
has in hand is passed over.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction
from psycopg import sql

from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.db.tenancy import for_tenant
from prism_memory.models import Entity
from prism_memory.types import NIL

PAGE: Final = 1_000
"""Entities that one page looks at."""


@dataclass(frozen=True)
class Dropped:
    """What one page did.

    Args:
        entities: How many went.
        next: Where the next page begins; None after the last.
    """

    entities: int = 0
    next: uuid.UUID | None = None


@for_tenant
def drop_unspoken(
    *, using: str, tenant: str, after: uuid.UUID = NIL, rows: int = PAGE
) -> Dropped:
    """Delete those of one page of entities that no mention and no merge speaks of.

    A merge is kept, undone or not: it is what a person decided. Four queries at most.

    Args:
        after: The ``next`` of the page before.
        rows: Entities of the page.
    """
    entities = Entity.objects.using(using).filter(tenant=tenant, id__gt=after)
    page = list(entities.order_by("id").values_list("id", flat=True)[:rows])
    given: dict[str, Any] = {"tenant": tenant, "entity_ids": page}
    gone = 0
    with transaction.atomic(using=using):
        # Locked by a statement of its own: the next sees what was linked until then.
        locked = queries.fetch(using, _statement("lock_unspoken"), given)
        if locked:
            given["entity_ids"] = [row["id"] for row in locked]
            gone = queries.execute(using, _statement("drop_unspoken"), given)
    return Dropped(gone, page[-1] if len(page) == rows else None)


def _statement(name: str) -> str:
    unspoken = sql.SQL(named("entities")["unspoken"])
    return composed("entities", name, unspoken=unspoken)
