"""Place a legal hold, and release it: what is on it cannot be deleted."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Invalid, NotVisible
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import LegalHold, Record, Source
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Actor,
    Held,
    HoldLevel,
    Scope,
    check_name,
    check_text,
    record_ref,
)


@for_tenant
def hold(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    record_id: uuid.UUID | None = None,
    source: uuid.UUID | str | None = None,
    matter: str = "",
    reason: str = "",
) -> Held:
    """Keep a record or a source of exactly ``scope`` from deletion, or all of it.

    Neither id: the scope with all below it, also what is written later. A hold hides
    nothing. The same hold for the same matter stands once. What is being written to a
    held scope at this very moment may still land; on a record or a source it is waited
    for.

    Args:
        source: Its id, or its key; a text that no source of exactly ``scope`` has for
            a key is read as an id.
        matter: What it is for, as a case's number; several matters hold one thing.
            The settings' redaction runs over it.
        reason: For the audit; no text content.

    Raises:
        Invalid: A record and a source, a key that none can have, or a matter that
            cannot be stored.
        LimitExceeded: A matter of over 256 bytes.
        NotVisible: No such record or source in this scope.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if record_id is not None and source is not None:
        message = "A hold is on a record, on a source, or on the scope: give one."
        raise Invalid(message, field="source")
    matter = Redaction.configured().text(check_text(matter, "matter"))
    matter = check_name(matter, "matter", blank=True)
    with transaction.atomic(using=using):
        # Whoever deletes has this lock: it sees the hold, or is done.
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        source_id = _source_id(using, scope, source)
        _lock_there(using, scope, record_id, source_id)
        level, target = _target(scope, record_id, source_id)
        rows = LegalHold.objects.using(using)
        known = rows.filter(
            tenant=scope.tenant,
            target_ref=target,
            matter=matter,
            released_at__isnull=True,
        ).first()
        if known is not None:
            return _held(known, scope, new=False)
        is_scope = level is HoldLevel.SCOPE
        placed = rows.create(
            tenant=scope.tenant,
            level=level.value,
            target_ref=target,
            owner=scope.owner if is_scope else "",
            agent=scope.agent if is_scope else "",
            thread=scope.thread if is_scope else "",
            matter=matter,
            placed_by=actor.name,
            placed_at=at,
        )
        _record(using, placed, actor, "hold.place", at, reason)
    return _held(placed, scope)


@for_tenant
def release(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    hold_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> None:
    """End a hold on ``scope``, on something in it, or on what is below it.

    What was kept because of it is as it was; other holds on it stand.

    Raises:
        NotVisible: No such hold here.
        Conflict: It was released before.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant, alone=True)
        rows = LegalHold.objects.using(using).select_for_update()
        found = rows.filter(tenant=scope.tenant, id=hold_id).first()
        if found is None or not _is_within(using, found, scope):
            raise NotVisible
        if found.released_at is not None:
            message = "The hold was released before."
            raise Conflict(message)
        LegalHold.objects.using(using).filter(tenant=scope.tenant, id=hold_id).update(
            released_at=at, released_by=actor.name
        )
        _record(using, found, actor, "hold.release", at, reason)


def _target(
    scope: Scope, record_id: uuid.UUID | None, source_id: uuid.UUID | None
) -> tuple[HoldLevel, str]:
    if record_id is not None:
        return HoldLevel.RECORD, record_ref(record_id)
    if source_id is not None:
        return HoldLevel.SOURCE, f"source:{source_id}"
    return HoldLevel.SCOPE, f"scope:{scope.id}"


def _source_id(
    using: str, scope: Scope, source: uuid.UUID | str | None
) -> uuid.UUID | None:
    """Return the source of a key; of one that no source has, what it says as an id."""
    if source is None or isinstance(source, uuid.UUID):
        return source
    key = check_name(source, "source")
    rows = Source.objects.using(using).filter(tenant=scope.tenant, scope_id=scope.id)
    row = rows.filter(key=key).first()
    if row is not None:
        return row.id
    try:
        return uuid.UUID(key)
    except ValueError:
        raise NotVisible from None


def _lock_there(
    using: str,
    scope: Scope,
    record_id: uuid.UUID | None,
    source_id: uuid.UUID | None,
) -> None:
    for model, wanted in ((Record, record_id), (Source, source_id)):
        if wanted is None:
            continue
        rows = model._default_manager.using(using)  # noqa: SLF001 - of either model
        # Who is writing it comes first, or sees the hold.
        mine = rows.filter(tenant=scope.tenant, scope_id=scope.id, id=wanted)
        if mine.select_for_update().values_list("id").first() is None:
            raise NotVisible


def _is_within(using: str, found: LegalHold, scope: Scope) -> bool:
    """Whether a hold is on ``scope``, on something in it, or on what is below it."""
    if found.level == HoldLevel.SCOPE:
        place = Scope(found.tenant, found.owner, found.agent, found.thread)
    else:
        kind, _, text = found.target_ref.partition(":")
        model = Record if kind == HoldLevel.RECORD else Source
        rows = model._default_manager.using(using)  # noqa: SLF001 - of either model
        row = rows.filter(tenant=found.tenant, id=text).select_related("scope").first()
        if row is None:  # it was gone before the hold: nobody's but the tenant's
            return not scope.owner
        place = row.scope.value
    return scope.opens(place)


def _held(row: LegalHold, scope: Scope, *, new: bool = True) -> Held:
    return Held(
        id=row.id,
        level=HoldLevel(row.level),
        target_ref=row.target_ref,
        matter=row.matter,
        placed_at=row.placed_at,
        new=new,
        scope=scope,
    )


def _record(
    using: str,
    row: LegalHold,
    actor: Actor,
    action: str,
    at: dt.datetime,
    reason: str,
) -> None:
    audit.record(
        using=using,
        tenant=row.tenant,
        actor=actor,
        action=action,
        target=row.target_ref,
        at=at,
        reason=reason,
        detail={"hold": str(row.id), "level": row.level},
    )
