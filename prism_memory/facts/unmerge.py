"""Say that two entities are not one after all."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.facts.merge import lock_entities
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import EntityMerge
from prism_memory.types import Actor, Scope


@for_tenant
def unmerge(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    entity_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> uuid.UUID:
    """Undo the merge of an entity of exactly ``scope``; return what it was merged into.

    What was merged into it goes with it, as before; facts that were linked meanwhile
    are of the entity whose name they say. Vectors do not merge the two again. Audited.

    Args:
        reason: For the audit; no text content.

    Raises:
        NotVisible: No such entity in this scope.
        Conflict: It is merged into none.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        into_id = lock_entities(using=using, scope=scope, ids=[entity_id])[entity_id]
        if into_id is None:
            message = "The entity is merged into no other."
            raise Conflict(message, field="entity")
        given = {"tenant": scope.tenant, "entity_id": entity_id}
        queries.execute(using, named("entities")["unmerge"], given)
        merges = EntityMerge.objects.using(using).filter(**given, undone_at=None)
        merges.update(undone_at=at, undone_by=actor.name)
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="entity.unmerge",
            target=f"entity:{entity_id}",
            at=at,
            reason=reason,
            detail={"into": str(into_id)},
        )
    return into_id
