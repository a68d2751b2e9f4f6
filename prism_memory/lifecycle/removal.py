"""The one way in which records go: tombstones first, then the hook, then the bodies.

Whoever calls has the tenant's lineage to itself (``hold_lineage(alone=True)``) and a
transaction: if one step fails, nothing has happened.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils.module_loading import import_string

from prism_memory import signals
from prism_memory.access import held
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.lifecycle.registry import tables_of_record
from prism_memory.lifecycle.tombstones import closure, mark_derived
from prism_memory.types import Actor, Scope, TombstoneReason

BATCH: Final = 64
"""Bodies that one statement of a person's verb deletes. Source: S0 (B161)."""

RECORD: Final = "record:"


@dataclass(frozen=True)
class Removed:
    """What went, and what stayed.

    Args:
        records: Ids of the records whose bodies are gone, dependents included.
        kept: Ids of those that a hold keeps.
        blocked: Refs that a tombstone was put on.
        rows: Rows deleted, by table.
    """

    records: tuple[uuid.UUID, ...] = ()
    kept: tuple[uuid.UUID, ...] = ()
    blocked: tuple[str, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)


def lock_records(
    *, using: str, scope: Scope, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, bool]:
    """Lock records of exactly ``scope``; return whether a hold keeps each. One query.

    Those that are not there, or are in another scope, are passed over.
    """
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "record_ids": list(ids),
    }
    rows = queries.fetch(using, composed("removal", "lock_records", held=held()), given)
    return {row["id"]: row["held"] for row in rows}


def lock_derived(
    *, using: str, tenant: str, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, bool]:
    """Lock records of any scope; return whether a hold keeps each. One query."""
    given = {"tenant": tenant, "record_ids": list(ids)}
    rows = queries.fetch(using, composed("removal", "lock_derived", held=held()), given)
    return {row["id"]: row["held"] for row in rows}


def remove(  # noqa: PLR0913 - keywords, half of them optional
    *,
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    reason: TombstoneReason,
    actor: Actor,
    at: dt.datetime,
    capped: bool = True,
    dependents: bool = True,
    batch: int = BATCH,
) -> Removed:
    """Block records and all that is derived from them, and delete the bodies.

    Args:
        ids: Locked, and under no hold.
        capped: Refuse a closure over the caps; what pages over many records does not.
        dependents: Delete the bodies of what is derived too; else only block them.
        batch: Bodies that one statement deletes.

    Raises:
        LimitExceeded: The closure is over the caps, and nothing was done.
    """
    roots = [f"{RECORD}{record_id}" for record_id in sorted(ids)]
    if capped:
        closure(using=using, tenant=tenant, roots=roots)
    blocked = mark_derived(
        using=using, tenant=tenant, roots=roots, reason=reason, actor=actor, at=at
    )
    announce_invalidation(using=using, tenant=tenant, reason=reason, refs=blocked)
    kept: set[uuid.UUID] = set()
    doomed = set(ids)
    if dependents:
        derived = records_of(blocked) - doomed
        found = lock_derived(using=using, tenant=tenant, ids=derived)
        kept = {record_id for record_id, is_held in found.items() if is_held}
        doomed |= found.keys() - kept
    rows = delete_bodies(using=using, tenant=tenant, ids=doomed, batch=batch)
    return Removed(tuple(sorted(doomed)), tuple(sorted(kept)), tuple(blocked), rows)


def announce_invalidation(
    *,
    using: str,
    tenant: str,
    reason: TombstoneReason,
    refs: Sequence[str],
    hold: bool = False,
) -> None:
    """Tell the host what may no longer be used, before anything is deleted (B155).

    It is told inside the transaction: one that raises keeps everything as it was.
    """
    if not refs:
        return
    told: dict[str, Any] = {"reason": reason, "ids": tuple(refs), "hold": hold}
    if settings.ON_INVALIDATE:
        hook = import_string(settings.ON_INVALIDATE)
        hook(**told)
    signals.invalidated.send(sender=Scope, using=using, tenant=tenant, **told)


def delete_bodies(
    *, using: str, tenant: str, ids: Iterable[uuid.UUID], batch: int = BATCH
) -> dict[str, int]:
    """Delete records and all rows that go with them; return the rows by table."""
    rows: Counter[str] = Counter()
    for some in _batches(ids, batch):
        for model, column in tables_of_record():
            where = {"tenant": tenant, f"{column}__in": some}
            found = model._base_manager.using(using).filter(**where)  # noqa: SLF001
            rows[model._meta.db_table] += found._raw_delete(using)  # noqa: SLF001
    return dict(rows)


def _batches(ids: Iterable[uuid.UUID], size: int) -> Iterator[tuple[uuid.UUID, ...]]:
    ordered = sorted(ids)
    for start in range(0, len(ordered), size):
        yield tuple(ordered[start : start + size])


def records_of(refs: Iterable[str]) -> set[uuid.UUID]:
    """Return the ids of those refs that name records."""
    return {
        uuid.UUID(ref.removeprefix(RECORD)) for ref in refs if ref.startswith(RECORD)
    }
