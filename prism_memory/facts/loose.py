"""Links of facts that lead nowhere: a file may name what is not here, or not in sight.

What a fact replaced, and what replaced it, lies in exactly its scope.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q

from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import Fact
from prism_memory.types import Scope

LINKS: Final = ("supersedes", "superseded_by", "pending_supersedes")


def drop_loose(*, using: str, scope: Scope, ids: Collection[uuid.UUID]) -> int:
    """Drop links of some facts of exactly ``scope`` that name no other fact of it.

    Three statements.

    Returns:
        How many were dropped.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        return sum(_drop(using, scope, ids, name) for name in LINKS)


def _drop(using: str, scope: Scope, ids: Collection[uuid.UUID], name: str) -> int:
    rows = Fact.objects.using(using).filter(tenant=scope.tenant, scope_id=scope.id)
    there = rows.filter(id=OuterRef(name))
    loose = rows.filter(Q(**{name: F("id")}) | ~Exists(there), id__in=ids)
    return loose.filter(**{f"{name}__isnull": False}).update(**{name: None})
