"""The audit trail: written in the transaction of the change it tells of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import LimitExceeded
from prism_memory.models import AuditEvent
from prism_memory.redaction import Redaction
from prism_memory.types import Actor, check_json, check_text

DELETIONS: Final = (
    "memory.forget",
    "memory.forget_thread",
    "memory.release_forgotten",
    "memory.propagate_deletion",
    "memory.erase_page",
    "retention.apply",
    "retention.sweep",
    "source.delete",
)
"""Actions whose events tell how many records went, and so account for those that are
missed later. Each bears the moment and the actor of the tombstones."""

REASON_CHARACTERS: Final = 1_000


@for_tenant
def record(
    *,
    using: str,
    tenant: str,
    actor: Actor,
    action: str,
    target: str,
    at: dt.datetime,
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Add one event.

    Args:
        tenant: Whose trail; empty for an act on the whole installation.
        action: Noun and verb, such as ``memory.forget``.
        target: A ref or an id; never text content.
        reason: A person's, 1,000 characters at most. The settings' redaction runs
            over it.
        detail: Ids and counts; never text content.

    Raises:
        Invalid: The reason cannot be stored.
        LimitExceeded: The reason is too long; the transaction must not go on.
    """
    check_json(dict(detail or {}), "detail")
    reason = Redaction.configured().text(check_text(reason, "reason"))
    if len(check_text(reason, "reason")) > REASON_CHARACTERS:
        message = f"reason is over {REASON_CHARACTERS} characters."
        raise LimitExceeded(message, field="reason")
    AuditEvent.objects.using(using).create(
        tenant=tenant,
        actor=actor.name,
        action=action,
        target=target,
        reason=reason,
        detail=dict(detail or {}),
        at=at,
    )
