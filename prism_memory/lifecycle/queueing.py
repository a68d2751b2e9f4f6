"""Give texts their place in the queue of those that wait for a vector."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import partial

from django.db import transaction

from prism_memory import signals
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.types import Scope


def enqueue(
    *, using: str, scope: Scope, texts: Mapping[uuid.UUID, bytes], embedder: str
) -> tuple[frozenset[uuid.UUID], bool]:
    """Return what waits for a vector, and whether any of it is new in the queue.

    A vector of another text goes. One query. Where no vectors are used, nothing new
    is queued: what has a vector of another text waits, and nobody is to wait for it.

    Args:
        texts: The SHA-256 of what is embedded, by record.
        embedder: Alias whose live spaces get a pending vector for each.
    """
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "alias": embedder,
        "record_ids": list(texts),
        "sha256s": list(texts.values()),
        "wanted": (wanted := settings.VECTOR_INDEX != "none"),
    }
    found = queries.fetch(using, named("remember")["enqueue_embeddings"], given)
    if not wanted:
        return frozenset(), False
    waiting = frozenset(row["record_id"] for row in found)
    return waiting, any(row["queued"] for row in found)


def wake(*, using: str, scope: Scope, embedder: str) -> None:
    """Tell the worker, after the commit, that texts wait."""
    send = partial(
        signals.indexing_wanted.send_robust,
        sender=Scope,
        tenant=scope.tenant,
        using=using,
        alias=embedder,
    )
    transaction.on_commit(send, using=using, robust=True)
