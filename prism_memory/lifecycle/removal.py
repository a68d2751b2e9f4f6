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
from prism_memory.db.queries import composed, named
from prism_memory.lifecycle.evidence import lock_facts, loss_of, unlink
from prism_memory.lifecycle.own_words import own_words
from prism_memory.lifecycle.registry import tables_of_record
from prism_memory.lifecycle.same_words import marks_of_words, same_words
from prism_memory.lifecycle.tombstones import (
    MOST_DISTANCE,
    MOST_REFS,
    mark,
)
from prism_memory.lifecycle.unembed import discount, lock_embeddings
from prism_memory.types import (
    Actor,
    Scope,
    TombstoneReason,
    record_ids,
)

BATCH: Final = 64
"""Bodies that one statement of a person's verb deletes. Source: S0 (B161)."""


@dataclass(frozen=True)
class Removed:
    """What went, and what stayed.

    Args:
        records: Ids of the records whose bodies are gone, dependents included.
        kept: Ids of those that a hold keeps.
        blocked: Refs that may no longer be used.
        rows: Rows deleted, by table.
        spared: Ids of facts that lost evidence, and stay on what is left of it.
        lowered: How many of those may be relied on less than before.
    """

    records: tuple[uuid.UUID, ...] = ()
    kept: tuple[uuid.UUID, ...] = ()
    blocked: tuple[str, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    spared: tuple[uuid.UUID, ...] = ()
    lowered: int = 0


def records_of_scope(
    *, using: str, scope: Scope, ids: Collection[uuid.UUID]
) -> set[uuid.UUID]:
    """Return those of ``ids`` that are records of exactly ``scope``. One query.

    They stay as long as the caller has the lineage to itself.
    """
    given = {"tenant": scope.tenant, "scope_id": scope.id, "record_ids": list(ids)}
    rows = queries.fetch(using, named("removal")["records_of_scope"], given)
    return {row["id"] for row in rows}


def lock_records(
    *, using: str, tenant: str, ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, bool]:
    """Lock records of any scope; return whether a hold keeps each. Two queries.

    Those that are not there are passed over.
    """
    given = {"tenant": tenant, "record_ids": list(ids)}
    locked = queries.fetch(using, named("removal")["lock_records"], given)
    kept = held_records(using=using, tenant=tenant, ids=ids)
    return {row["id"]: row["id"] in kept for row in locked}


def held_records(
    *, using: str, tenant: str, ids: Collection[uuid.UUID]
) -> set[uuid.UUID]:
    """Return those of some records that a hold keeps. One query."""
    given = {"tenant": tenant, "record_ids": list(ids)}
    statement = composed("removal", "held_records", held=held())
    return {row["id"] for row in queries.fetch(using, statement, given)}


def remove(  # noqa: PLR0913 - keywords, most of them optional
    *,
    using: str,
    tenant: str,
    ids: Collection[uuid.UUID],
    reason: TombstoneReason,
    actor: Actor,
    at: dt.datetime,
    capped: bool = True,
    most_refs: int = MOST_REFS,
    dependents: bool = True,
    batch: int = BATCH,
    words: bool = False,
) -> Removed:
    """Block records and all that is derived from them, and delete the bodies.

    What a hold keeps is passed over; what derives from something else that goes is
    blocked, and its body kept. A fact that cites something else too stays, and cites no
    longer what goes; one that would cite nothing goes in any case.

    Args:
        ids: Of records, in whatever scope; of facts, their bare words go with them.
        capped: Refuse a closure over the caps, and note each root of each ref. What
            may be much notes the nearest root only.
        most_refs: Roots and derived, where it is capped.
        dependents: Delete the bodies of what is derived too; else only block them.
        batch: Bodies that one statement deletes.
        words: A person takes words out: where a document says those of a chunk at other
            places too, or in another generation, these go with it, and none comes back
            by its words. What was merely due goes alone.

    Raises:
        LimitExceeded: The closure is over the caps, and nothing was done.
    """
    given: dict[str, Any] = {"using": using, "tenant": tenant}
    same = same_words(**given, ids=ids) if words else {}
    ids = {*ids, *own_words(**given, ids=ids), *same}
    loss = loss_of(**given, ids=ids)
    if capped:
        loss.check(most_refs=most_refs, most_distance=MOST_DISTANCE)
    wanted = loss.bodies(ids, dependents=dependents)
    # Facts that stay too: a review of one hangs on its record.
    found = lock_records(**given, ids=wanted | record_ids(loss.cited))
    kept = {record_id for record_id, is_held in found.items() if is_held}
    going = (found.keys() & set(ids)) - kept
    if not going:
        return Removed(kept=tuple(sorted(kept & set(ids))))
    if len(going) < len(set(ids)):
        loss = loss_of(**given, ids=going)
    doomed = (loss.bodies(going, dependents=dependents) & found.keys()) - kept
    lock_facts(**given, ids=doomed | loss.spared)
    marks = loss.marks(each_root=capped and most_refs == MOST_REFS)
    marks += marks_of_words(tenant=tenant, same=same, going=going)
    mark(marks=marks, reason=reason, actor=actor, at=at, **given)
    announce_invalidation(refs=loss.reached.refs, reason=reason, **given)
    unlinked = unlink(links=loss.links, actor=actor, at=at, **given)
    rows = Counter(unlinked.rows)
    rows.update(delete_bodies(ids=doomed, batch=batch, **given))
    stays = kept & (set(ids) | record_ids(loss.reached.refs))
    return Removed(
        tuple(sorted(doomed)),
        tuple(sorted(stays)),
        loss.reached.refs,
        dict(rows),
        tuple(sorted(loss.spared)),
        unlinked.lowered,
    )


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
    gone: Counter[uuid.UUID] = Counter()
    for some in _batches(ids, batch):
        gone += lock_embeddings(using=using, tenant=tenant, record_ids=some)
        for model, how in tables_of_record():
            every = model._base_manager.using(using)  # noqa: SLF001
            found = every.filter(how.rows(tenant, some))
            rows[model._meta.db_table] += found._raw_delete(using)  # noqa: SLF001
    discount(using=using, tenant=tenant, gone=gone)
    return dict(rows)


def _batches(ids: Iterable[uuid.UUID], size: int) -> Iterator[tuple[uuid.UUID, ...]]:
    ordered = sorted(ids)
    for start in range(0, len(ordered), size):
        yield tuple(ordered[start : start + size])
