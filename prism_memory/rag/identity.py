"""Vectors of another embedder are never taken for those of this one (B225, B480)."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db.models import Exists, OuterRef
from psycopg import sql

from prism_memory import indexing
from prism_memory.access import Reader, visible
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.errors import EmbedderMismatch
from prism_memory.models import Embedding

FOREIGN = "A stored passage has no vector, nor waits for one, of this embedder."


def check_identity(
    *, using: str, alias: str, reader: Reader, ids: Collection[uuid.UUID] | None
) -> None:
    """Check that passages are embedded, or queued, by the embedder that is asked with.

    One query, where all is well; the space is looked up anew before anything is said,
    since another process may have switched it.

    Args:
        ids: Of these; of all in sight of the reader when None.

    Raises:
        EmbedderMismatch: One is not.
    """
    space = indexing.known_space(using=using, alias=alias)
    if space is not None and not _is_foreign(using, reader, ids, space.id):
        return
    space = indexing.find_active(using=using, alias=alias)
    if _is_foreign(using, reader, ids, 0 if space is None else space.id):
        raise EmbedderMismatch(FOREIGN, field=alias)


def _is_foreign(
    using: str, reader: Reader, ids: Collection[uuid.UUID] | None, space_id: int
) -> bool:
    if ids is None:
        return _is_any_foreign(using, reader, space_id)
    own = Embedding.objects.using(using).filter(
        tenant=reader.scope.tenant, record_id=OuterRef("id"), space_id=space_id
    )
    rows = visible(using=using, reader=reader).filter(id__in=list(ids))
    return rows.filter(~Exists(own)).exists()


def _is_any_foreign(using: str, reader: Reader, space_id: int) -> bool:
    rule = sql.SQL(reader.condition().as_string(None))
    statement = composed("rag", "foreign", visible=rule)
    given = {**reader.parameters(), "space_id": space_id}
    (row,) = queries.fetch(using, statement, given)
    return bool(row["found"])
