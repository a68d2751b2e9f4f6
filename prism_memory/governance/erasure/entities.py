"""Entities that nothing speaks of any more go with an erasure: their names are words.

Who purges or forgets a fact leaves them to the nightly task (B418): see
``facts.unspoken``.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection
from typing import Any

from django.db.models import Q

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.models import Entity, EntityMerge, Mention


def mentioned(
    *, using: str, tenant: str, fact_ids: Collection[uuid.UUID]
) -> set[uuid.UUID]:
    """Return the entities that some facts speak of. One query."""
    rows = Mention.objects.using(using).filter(tenant=tenant, fact_id__in=fact_ids)
    return set(rows.values_list("entity_id", flat=True))


def unmentioned(
    *,
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    without: Collection[uuid.UUID] = (),
) -> set[uuid.UUID]:
    """Return those of some entities that nothing speaks of, and what they merged into.

    One that another was merged into stays as long as that one does. A query for each
    merge that one follows.

    Args:
        without: Facts that are left out of account.
    """
    gone: set[uuid.UUID] = set()
    front = set(ids)
    while front:
        given: dict[str, Any] = {
            "tenant": tenant,
            "entity_ids": list(front),
            "without": list(without),
            "gone": list(gone),
        }
        rows = queries.fetch(using, named("erasure")["unmentioned"], given)
        gone |= {row["id"] for row in rows}
        front = {row["merged_into"] for row in rows} - gone - {None}
    return gone


def drop_unmentioned(
    *, using: str, tenant: str, ids: Collection[uuid.UUID]
) -> Counter[str]:
    """Delete those of some entities that nothing speaks of; return rows by table.

    One that others are merged into stays, to hold these together, without its name.
    """
    counts: Counter[str] = Counter()
    gone = unmentioned(using=using, tenant=tenant, ids=ids)
    if rest := set(ids) - gone:
        given = {"tenant": tenant, "entity_ids": list(rest)}
        queries.execute(using, named("erasure")["unname_entities"], given)
    if not gone:
        return counts
    merges = Q(entity_id__in=gone) | Q(into_id__in=gone)
    for model, where in ((EntityMerge, merges), (Entity, Q(id__in=gone))):
        rows = model._base_manager.using(using).filter(where, tenant=tenant)  # noqa: SLF001
        deleted: int | None = rows._raw_delete(using)  # noqa: SLF001 - no rows read
        counts[model._meta.db_table] += deleted or 0  # noqa: SLF001
    return counts
