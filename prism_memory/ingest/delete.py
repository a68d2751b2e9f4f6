"""Delete a source with its records, through the one way in which records go."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any, Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.ingest.sources import ALONE, find_source, source_ref
from prism_memory.lifecycle.forget import detail_of
from prism_memory.lifecycle.forget_thread import delete_empty_sources
from prism_memory.lifecycle.removal import Removed, remove
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, DeletedSource, Scope, TombstoneReason

BODIES: Final = 500
"""Bodies that one statement deletes: a document may have thousands."""


@for_tenant
def delete(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    key: str,
    at: dt.datetime,
    reason: str = "",
) -> DeletedSource:
    """Delete a source of exactly ``scope``, with all that is derived from its records.

    In one transaction, however much that is. What a hold keeps stays, and then the
    source stays too. A document that is ingested under the same key later is another
    one: nothing that was forgotten of this one is withheld from it.

    Args:
        reason: For the audit; no text content.

    Raises:
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    given: dict[str, Any] = {"using": using, "tenant": scope.tenant}
    with transaction.atomic(using=using):
        hold_lineage(**given, alone=True)
        source = find_source(using=using, scope=scope, key=key, lock=ALONE)
        if source is None:
            return DeletedSource(found=False)
        ids = _ids(using, scope.tenant, source["id"])
        done = Removed()
        if ids:
            done = remove(
                **given,
                ids=ids,
                reason=TombstoneReason.FORGOTTEN,
                actor=actor,
                at=at,
                capped=False,
                batch=BODIES,
            )
        gone = delete_empty_sources(**given, ids=[source["id"]], documents=True)
        audit.record(
            **given,
            actor=actor,
            action="source.delete",
            target=source_ref(source["id"]),
            at=at,
            reason=reason,
            detail=detail_of(done) | {"sources": gone},
        )
    kept = tuple(sorted(done.kept))
    return DeletedSource(
        found=True, deleted=len(done.records), kept=kept, blocked=len(done.blocked)
    )


def _ids(using: str, tenant: str, source_id: uuid.UUID) -> set[uuid.UUID]:
    given = {"tenant": tenant, "source_id": source_id}
    rows = queries.fetch(using, named("ingest")["ids_of_source"], given)
    return {row["id"] for row in rows}
