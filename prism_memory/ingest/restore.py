"""Bring a retired source back to search."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from django.db import transaction

from prism_memory import audit, integrity
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.ingest.sources import lock_source, source_ref
from prism_memory.ingest.writing import batches
from prism_memory.lifecycle.queueing import enqueue, wake
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, RetiredSource, Scope, SourceState


@for_tenant
def restore(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    key: str,
    embedder: str,
    at: dt.datetime,
    reason: str = "",
) -> RetiredSource:
    """Bring back what left search with a source of exactly ``scope``.

    Its records wait for their vectors anew. What had left the document before stays
    away, and so does what something else blocks. One that is in use stays so.

    Args:
        embedder: Alias whose live spaces get a pending vector for each record.
        reason: For the audit; no text content.

    Raises:
        NotVisible: No such source in the scope.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    tenant = scope.tenant
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=tenant)
        source = lock_source(using=using, scope=scope, key=key)
        if source["state"] == SourceState.ACTIVE:
            return RetiredSource(source["id"], changed=False)
        given = {"tenant": tenant, "source_id": source["id"], "at": at}
        with_it = given | {"retired_at": source["retired_at"]}
        found = queries.fetch(using, named("ingest")["own_records"], with_it)
        texts = {row["id"]: row["embedded"] for row in found}
        waits = _back(using, scope, texts, embedder, at)
        state = {"state": SourceState.ACTIVE.value, "retired_at": None, "waits": waits}
        queries.execute(using, named("ingest")["set_source_state"], given | state)
        if waits:
            wake(using=using, scope=scope, embedder=embedder)
        audit.record(
            using=using,
            tenant=tenant,
            actor=actor,
            action="source.restore",
            target=source_ref(source["id"]),
            at=at,
            reason=reason,
            detail={"records": len(texts)},
        )
    return RetiredSource(source["id"], len(texts))


def _back(
    using: str,
    scope: Scope,
    texts: Mapping[uuid.UUID, str],
    embedder: str,
    at: dt.datetime,
) -> bool:
    """Show records again, and queue them; tell whether any waits for its vector."""
    waits = False
    for some in batches(texts):
        given: dict[str, Any] = {"tenant": scope.tenant, "ids": some, "at": at}
        with integrity.carried(using=using, tenant=scope.tenant, record_ids=some):
            statement = named("ingest")["set_retired"]
            queries.execute(using, statement, given | {"retired_at": None})
        hashes = {i: hashlib.sha256(texts[i].encode()).digest() for i in some}
        waiting, _ = enqueue(using=using, scope=scope, texts=hashes, embedder=embedder)
        waits = waits or bool(waiting)
    return waits
