"""Delete a source with all that is derived from it, here and in the layers beside.

A layer is whatever a host keeps of the records elsewhere in the same database: a
projection, a cache, a search table. It registers what deletes there.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid, Misconfigured, NotVisible
from prism_memory.lifecycle.forget import detail_of, told
from prism_memory.lifecycle.forget_thread import delete_empty_sources, lock_sources
from prism_memory.lifecycle.granted import (
    check_grant,
    require_granted,
    require_granted_ids,
)
from prism_memory.lifecycle.removal import Removed, records_of_scope, remove
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import Record, Source
from prism_memory.types import (
    Actor,
    Grant,
    Propagated,
    Scope,
    TombstoneReason,
    check_choice,
    check_name,
)

MOST_REFS: Final = 4_096
"""Roots and derived of one propagation. Source: S0 (B170)."""

Handler = Callable[[str, str, tuple[str, ...], TombstoneReason], int]
"""Takes the database alias, the tenant, the refs that may no longer be used, and why;
deletes what its layer holds of them, in the transaction that is open; returns how many.
"""

_handlers: dict[str, Handler] = {}


def register_deletion_handler(kind: str, handler: Handler) -> None:
    """Let a layer take part in every propagation, in the order of registration.

    Best in the ``ready`` of the layer's app.

    Raises:
        Misconfigured: The kind has a handler already.
    """
    check_name(kind, "kind")
    if kind in _handlers:
        message = f"There is a deletion handler of the kind {kind!r} already."
        raise Misconfigured(message, field="kind")
    _handlers[kind] = handler


@for_tenant
def propagate_deletion(
    *,
    using: str,
    scope: Scope,
    by: Grant,
    at: dt.datetime,
    source: str | None = None,
    ids: Collection[uuid.UUID] | None = None,
    reason: TombstoneReason = TombstoneReason.FORGOTTEN,
    note: str = "",
) -> Propagated:
    """Delete the records of a source, or some by id, of exactly ``scope``.

    With all that is derived from them, and then in every registered layer: all of it,
    or nothing. What a hold keeps stays. A source that is empty afterwards goes.

    Args:
        by: Who the host has verified; refused before a transaction is opened.
        source: Its key; or ``ids``, not both.
        reason: ``forgotten`` or ``expired``.
        note: For the audit; no text content.

    Raises:
        ScopeDenied: The grant does not open the scope; or a source is restricted, and
            not granted to its authorization.
        PermissionDenied: It does not govern.
        NotVisible: No such source in the scope, or not one of these records.
        LimitExceeded: The closure is over 4,096 refs or 8 derivations deep.
        Misconfigured: A handler returned no count; nothing was deleted.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    check_grant(by, scope)
    why = _check_wish(source, ids, reason)
    _require(using, scope, source, ids, by)
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        roots, sources = _roots(using, scope, source, ids)
        _require(using, scope, source, ids, by)  # a grant may be gone since
        done = remove(
            using=using,
            tenant=scope.tenant,
            ids=roots,
            reason=why,
            actor=by.actor,
            at=at,
            most_refs=MOST_REFS,
            words=why is TombstoneReason.FORGOTTEN,
        )
        layers = _tell_layers(using, scope.tenant, done, why)
        delete_empty_sources(
            using=using, tenant=scope.tenant, ids=sources, documents=True
        )
        _record(using, scope, by.actor, at, done, layers, note=note)
    return Propagated(told(done), why, layers)


def _require(
    using: str,
    scope: Scope,
    source: str | None,
    ids: Collection[uuid.UUID] | None,
    by: Grant,
) -> None:
    if source is not None:
        require_granted(using=using, scope=scope, key=source, by=by, field="source")
    else:
        require_granted_ids(using=using, scope=scope, ids=ids or (), by=by)


def _check_wish(
    source: str | None,
    ids: Collection[uuid.UUID] | None,
    reason: TombstoneReason,
) -> TombstoneReason:
    if (source is None) == (ids is None):
        message = "Give the key of a source, or ids of records."
        raise Invalid(message, field="source")
    why = check_choice(reason, TombstoneReason, "reason")
    if why not in {TombstoneReason.FORGOTTEN, TombstoneReason.EXPIRED}:
        message = "What is deleted was forgotten or expired."
        raise Invalid(message, field="reason")
    return why


def _roots(
    using: str,
    scope: Scope,
    source: str | None,
    ids: Collection[uuid.UUID] | None,
) -> tuple[set[uuid.UUID], list[uuid.UUID]]:
    """Return the records to begin with, and their source, which is locked."""
    if ids is not None:
        found = records_of_scope(using=using, scope=scope, ids=ids)
        if found != set(ids):
            raise NotVisible(field="ids")
        return found, []
    rows = Source.objects.using(using).filter(tenant=scope.tenant, scope_id=scope.id)
    source_id = rows.filter(key=source).values_list("id", flat=True).first()
    if source_id is None:
        raise NotVisible(field="source")
    lock_sources(using=using, tenant=scope.tenant, ids=[source_id])
    records = Record.objects.using(using).filter(
        tenant=scope.tenant, scope_id=scope.id, source_id=source_id
    )
    return {*records.values_list("id", flat=True)[: MOST_REFS + 1]}, [source_id]


def _tell_layers(
    using: str, tenant: str, done: Removed, reason: TombstoneReason
) -> Mapping[str, int]:
    return {
        kind: _count(kind, handler(using, tenant, done.blocked, reason))
        for kind, handler in _handlers.items()
    }


def _count(kind: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        message = f"The deletion handler {kind!r} must return how many it deleted."
        raise Misconfigured(message, field="kind")
    return count


def _record(
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    done: Removed,
    layers: Mapping[str, int],
    *,
    note: str,
) -> None:
    detail: dict[str, Any] = detail_of(done) | {"layers": dict(layers)}
    audit.record(
        using=using,
        tenant=scope.tenant,
        actor=actor,
        action="memory.propagate_deletion",
        target=f"scope:{scope.id}",
        at=at,
        reason=note,
        detail=detail,
    )
