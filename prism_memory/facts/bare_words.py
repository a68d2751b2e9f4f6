"""Store the bare words that a fact cites: kept, but out of search, without a vector.

Else recall would show the same words twice.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from prism_memory import lifecycle
from prism_memory.facts.locking import change_record
from prism_memory.lifecycle.entries import Row
from prism_memory.models import Embedding
from prism_memory.types import Actor, Scope


def store_bare_words(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    notes: Sequence[Row],
    embedder: str,
    at: dt.datetime,
) -> None:
    """Store notes, retired from their first moment on. Inside a transaction.

    Args:
        notes: See ``vouching.bare_words``. New ones.
    """
    if not notes:
        return
    lifecycle.remember(
        using=using,
        scope=scope,
        actor=actor,
        rows=notes,
        embedder=embedder,
        at=at,
        wakes=False,
    )
    ids, tenant = [note.id for note in notes], scope.tenant
    for record_id in ids:
        change_record(using=using, tenant=tenant, record_id=record_id, retired_at=at)
    Embedding.objects.using(using).filter(tenant=tenant, record_id__in=ids).delete()
