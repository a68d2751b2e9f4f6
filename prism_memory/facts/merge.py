"""Say that two entities of a scope are one; what is merged stays, to be undone."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Invalid, LimitExceeded, NotVisible
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import EntityMerge
from prism_memory.types import MERGED_AT_MOST, Actor, Scope


@for_tenant
def merge(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    entity_id: uuid.UUID,
    into_id: uuid.UUID,
    at: dt.datetime,
    cosine: float | None = None,
    reason: str = "",
) -> uuid.UUID:
    """Merge an entity of exactly ``scope`` into another; return the merge's id.

    Its facts are found by both names from now on, here and below. Nothing is moved, so
    ``unmerge`` restores exactly what was (B396). Audited.

    Args:
        cosine: Of the names' vectors, -1..1, where these decided.
        reason: For the audit; no text content.

    Raises:
        Invalid: Both are one.
        NotVisible: One is no entity of this scope.
        Conflict: One is merged into another already.
        LimitExceeded: More than 8 merges would lead to one entity in a row.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if entity_id == into_id:
        message = "An entity is not merged into itself."
        raise Invalid(message, field="into")
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        locked = lock_entities(using=using, scope=scope, ids=[entity_id, into_id])
        for name, one in (("entity", entity_id), ("into", into_id)):
            if locked[one] is not None:
                message = "The entity is merged into another already."
                raise Conflict(message, field=name)
        _check_depth(using, scope.tenant, entity_id)
        given = {
            "tenant": scope.tenant,
            "entity_id": entity_id,
            "into_id": into_id,
        }
        queries.execute(using, named("entities")["merge"], given)
        made = EntityMerge.objects.using(using).create(
            **given, scope_id=scope.id, cosine=cosine, actor=actor.name, at=at
        )
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="entity.merge",
            target=f"entity:{entity_id}",
            at=at,
            reason=reason,
            detail={"into": str(into_id), "merge": str(made.id), "cosine": cosine},
        )
    return made.id


def lock_entities(
    *, using: str, scope: Scope, ids: list[uuid.UUID]
) -> dict[uuid.UUID, uuid.UUID | None]:
    """Lock entities of exactly ``scope``; return what each is merged into. One query.

    Raises:
        NotVisible: One is none of this scope.
    """
    given: dict[str, Any] = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "entity_ids": ids,
    }
    rows = queries.fetch(using, named("entities")["lock_entities"], given)
    if len(rows) < len(ids):
        raise NotVisible
    return {row["id"]: row["merged_into"] for row in rows}


def _check_depth(using: str, tenant: str, entity_id: uuid.UUID) -> None:
    statement = composed("entities", "merges_below", depth=MERGED_AT_MOST)
    given = {"tenant": tenant, "entity_id": entity_id}
    (row,) = queries.fetch(using, statement, given)
    if row["steps"] >= MERGED_AT_MOST:
        message = f"At most {MERGED_AT_MOST} merges lead to one entity in a row."
        raise LimitExceeded(message, field="entity")
