"""One record that a verb governs: of exactly its scope, in sight or not."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db.models import QuerySet

from prism_memory import access
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.errors import NotVisible
from prism_memory.models import Record
from prism_memory.types import Scope


def find_governed(*, using: str, scope: Scope, record_id: uuid.UUID) -> Record:
    """Return a record of exactly ``scope``, with its source. One query.

    Raises:
        NotVisible: No such record in this scope.
    """
    rows = _rows(using, scope, record_id).select_related("source")
    return _only(rows.defer("search"))


def lock_governed(*, using: str, scope: Scope, record_id: uuid.UUID) -> Record:
    """Return it, locked until the transaction ends. One query.

    Raises:
        NotVisible: No such record in this scope.
    """
    rows = _rows(using, scope, record_id).select_related("source")
    locked = rows.select_for_update(no_key=True, of=("self",))
    return _only(locked.defer("search"))


def is_held(*, using: str, record: Record) -> bool:
    """Tell whether a hold keeps a record. One query."""
    return any_held(using=using, tenant=record.tenant, record_ids=[record.id])


def any_held(*, using: str, tenant: str, record_ids: Collection[uuid.UUID]) -> bool:
    """Tell whether a hold keeps one of the records. One query."""
    given = {"tenant": tenant, "record_ids": list(record_ids)}
    statement = composed("removal", "held_records", held=access.held())
    return bool(queries.fetch(using, statement, given))


def _rows(using: str, scope: Scope, record_id: uuid.UUID) -> QuerySet[Record]:
    # The names decide, not the hash.
    return Record.objects.using(using).filter(
        tenant=scope.tenant,
        scope_id=scope.id,
        scope__owner=scope.owner,
        scope__agent=scope.agent,
        scope__thread=scope.thread,
        id=record_id,
    )


def _only(rows: QuerySet[Record]) -> Record:
    record = rows.first()
    if record is None:
        raise NotVisible
    return record
