"""Drop a space that does not answer, with its vectors and its index."""

from __future__ import annotations

import datetime as dt
from typing import Final

from django.db import IntegrityError, connections, transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict, NotVisible, Unsupported
from prism_memory.indexing.copies import drop_copies
from prism_memory.indexing.hnsw import drop_index
from prism_memory.indexing.spaces import space_of
from prism_memory.indexing.tenants import tenants
from prism_memory.models import EmbeddingSpace, SpaceState
from prism_memory.types import Actor

BATCH_ROWS: Final = 1_000
LATE: Final = "Vectors are being written to the space still; drop it again."


def drop_space(
    *,
    using: str,
    space_id: int,
    actor: Actor,
    at: dt.datetime,
    reason: str = "",
) -> int:
    """Drop a retired space, or one being built; return how many rows of it went.

    A transaction a batch: who is stopped does it again. From the first on nobody writes
    to it, and nobody can switch back to it. No record loses anything but this vector.

    Raises:
        NotVisible: There is no such space, or no more.
        Conflict: It is the active one; its index is being built; or somebody writes to
            it in this moment.
        Unsupported: Inside a transaction.
    """
    if connections[using].in_atomic_block:
        message = "A space is dropped outside any transaction."
        raise Unsupported(message)
    space = space_of(_stopped(using, space_id, at))
    drop_index(using=using, space=space)
    count = sum(_emptied(using, name, space_id) for name in tenants(using=using))
    try:
        with transaction.atomic(using=using):
            given = {"space_id": space_id}
            if not queries.execute(using, named("indexing")["delete_space"], given):
                raise NotVisible  # another process dropped it
            audit.record(
                using=using,
                tenant="",
                actor=actor,
                action="space.drop",
                target=f"space:{space_id}",
                at=at,
                reason=reason,
                detail={"alias": space.alias, "vectors": count},
            )
    except IntegrityError as error:
        raise Conflict(LATE) from error
    return count


def _stopped(using: str, space_id: int, at: dt.datetime) -> EmbeddingSpace:
    """Have nobody write to the space any more, nor build or switch back to it."""
    with transaction.atomic(using=using):
        rows = EmbeddingSpace.objects.using(using).select_for_update(no_key=True)
        row = rows.filter(id=space_id).first()
        if row is None:
            raise NotVisible
        if row.state == SpaceState.ACTIVE:
            message = f"The space {space_id} answers; switch to another one first."
            raise Conflict(message, field="space")
        if row.state != SpaceState.DROPPING:
            row.state, row.state_since = SpaceState.DROPPING, at
            row.save(using=using, update_fields=("state", "state_since"))
    return row


def _emptied(using: str, tenant: str, space_id: int) -> int:
    given = {"tenant": tenant, "space_id": space_id, "rows": BATCH_ROWS}
    count = 0
    while gone := queries.execute(using, named("indexing")["delete_vectors"], given):
        count += gone
    drop_copies(using=using, tenant=tenant, space_id=space_id)
    return count
