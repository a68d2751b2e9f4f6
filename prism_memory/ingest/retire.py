"""Take a source out of search. What it holds stays readable by id (B286)."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter

from django.db import transaction

from prism_memory import audit, integrity
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.ingest.sources import lock_source, source_ref
from prism_memory.ingest.writing import batches
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.lifecycle.unembed import discount, drop_embeddings
from prism_memory.types import Actor, RetiredSource, Scope, SourceState


@for_tenant
def retire(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    key: str,
    at: dt.datetime,
    reason: str = "",
) -> RetiredSource:
    """Retire a source of exactly ``scope``: its records leave search at once.

    Their vectors go (B488); nothing else does, so a hold does not keep it from
    happening. One that is retired already stays so.

    Args:
        reason: For the audit; no text content.

    Raises:
        NotVisible: No such source in the scope.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    tenant = scope.tenant
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=tenant)
        source = lock_source(using=using, scope=scope, key=key)
        if source["state"] == SourceState.RETIRED:
            return RetiredSource(source["id"], changed=False)
        given = {"tenant": tenant, "source_id": source["id"], "at": at}
        sql = named("ingest")
        found = queries.fetch(using, sql["own_records"], given | {"retired_at": None})
        ids = [row["id"] for row in found]
        state = {"state": SourceState.RETIRED.value, "retired_at": at, "waits": False}
        gone: Counter[uuid.UUID] = Counter()
        for some in batches(ids):
            several = {**given, "ids": some, "retired_at": at}
            with integrity.carried(using=using, tenant=tenant, record_ids=some):
                queries.execute(using, sql["set_retired"], several)
            gone += drop_embeddings(using=using, tenant=tenant, record_ids=some)
        discount(using=using, tenant=tenant, gone=gone)
        queries.execute(using, sql["set_source_state"], given | state)
        audit.record(
            using=using,
            tenant=tenant,
            actor=actor,
            action="source.retire",
            target=source_ref(source["id"]),
            at=at,
            reason=reason,
            detail={"records": len(ids)},
        )
    return RetiredSource(source["id"], len(ids))
