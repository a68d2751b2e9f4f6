"""Grant or revoke the consent for one record."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction

from prism_memory import audit, signals
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid
from prism_memory.integrity import carried
from prism_memory.lifecycle.decisions import note_decisions
from prism_memory.lifecycle.governed import lock_governed
from prism_memory.lifecycle.removal import announce_invalidation
from prism_memory.lifecycle.same_words import same_words
from prism_memory.lifecycle.tombstones import hold_lineage, lift, mark_derived
from prism_memory.models import Record
from prism_memory.types import (
    Actor,
    ConsentScope,
    ConsentSource,
    Scope,
    TombstoneReason,
    check_bool,
    check_choice,
    record_ref,
)


@for_tenant
def set_consent(  # noqa: PLR0913 - keywords, most of them optional
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    at: dt.datetime,
    visible: bool | None = None,
    source: ConsentSource | None = None,
    label: ConsentScope | None = None,
    reason: str = "",
) -> None:
    """Show or hide a record of exactly ``scope``, and all that is derived from it.

    Nothing is embedded again. Granting anew lifts what this record's revocation
    blocked, and nothing else. What is None keeps its value. Where a document says the
    words of a chunk at other places too, or in another generation, these are shown and
    hidden with it.

    Args:
        label: What the consent is for; never a filter.
        reason: For the audit; no text content.

    Raises:
        NotVisible: No such record in this scope.
        Invalid: Nothing to change, or an unknown source or label.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    if visible is not None:
        check_bool(visible, "visible")
    changes = _labels(source, label)
    if visible is None and not changes:
        message = "There is nothing to change: give visible, source or label."
        raise Invalid(message, field="visible")
    with transaction.atomic(using=using):
        wanted = {record_id}
        if visible is not None:
            hold_lineage(using=using, tenant=scope.tenant, alone=True)
            same = same_words(using=using, tenant=scope.tenant, ids=wanted)
            wanted.update(same)
        for one in sorted(wanted):
            _set_one(using, scope, actor, one, at, changes, visible, reason)


def _set_one(
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    at: dt.datetime,
    labels: Mapping[str, Any],
    visible: bool | None,
    reason: str,
) -> None:
    record = lock_governed(using=using, scope=scope, record_id=record_id)
    blocked = _block(using, scope, actor, record_id, at, visible=visible)
    changes = dict(labels)
    if visible is not None:
        changes |= _state(record, at, visible=visible)
    if any(getattr(record, name) != value for name, value in changes.items()):
        changes["changed_at"] = at
    _write(using, record, changes | {"version": record.version + 1})
    given: dict[str, Any] = {"using": using, "tenant": scope.tenant, "actor": actor}
    note_decisions(**given, record_ids=[record_id], at=at)
    audit.record(
        **given,
        action="memory.set_consent",
        target=record_ref(record_id),
        at=at,
        reason=reason,
        detail={"visible": visible, "refs": blocked},
    )
    _announce(using, scope, record_id, visible=visible)


def _write(using: str, record: Record, changes: dict[str, Any]) -> None:
    rows = Record.objects.using(using).filter(tenant=record.tenant, id=record.id)
    with carried(using=using, tenant=record.tenant, record_ids=[record.id]):
        rows.update(**changes)


def _labels(source: ConsentSource | None, label: ConsentScope | None) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if source is not None:
        changes["consent_source"] = check_choice(source, ConsentSource, "source")
    if label is not None:
        changes["consent_scope"] = check_choice(label, ConsentScope, "scope")
    return changes


def _block(
    using: str,
    scope: Scope,
    actor: Actor,
    record_id: uuid.UUID,
    at: dt.datetime,
    *,
    visible: bool | None,
) -> int:
    root = record_ref(record_id)
    if visible is None:
        return 0
    if visible:
        return lift(
            using=using,
            tenant=scope.tenant,
            root=root,
            reason=TombstoneReason.REVOKED,
            at=at,
        )
    marked = mark_derived(
        using=using,
        tenant=scope.tenant,
        roots=[root],
        reason=TombstoneReason.REVOKED,
        actor=actor,
        at=at,
    )
    announce_invalidation(
        using=using,
        tenant=scope.tenant,
        reason=TombstoneReason.REVOKED,
        refs=marked,
    )
    return len(marked)


def _state(record: Record, at: dt.datetime, *, visible: bool) -> dict[str, Any]:
    if visible:
        stands = record.visible and record.revoked_at is None
        granted_at = (record.granted_at if stands else None) or at
        return {"visible": True, "granted_at": granted_at, "revoked_at": None}
    return {"visible": False, "revoked_at": record.revoked_at or at}


def _announce(
    using: str, scope: Scope, record_id: uuid.UUID, *, visible: bool | None
) -> None:
    if visible is None:
        return
    send = partial(
        signals.consent_changed.send_robust,
        sender=Scope,
        scope=scope,
        id=record_id,
        visible=visible,
    )
    transaction.on_commit(send, using=using, robust=True)
