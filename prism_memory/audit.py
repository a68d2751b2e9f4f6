"""The audit trail: written in the transaction of the change it tells of."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from prism_memory.models import AuditEvent
from prism_memory.types import Actor, check_json


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
        detail: Ids and counts; never text content.
    """
    check_json(dict(detail or {}), "detail")
    AuditEvent.objects.using(using).create(
        tenant=tenant,
        actor=actor.name,
        action=action,
        target=target,
        reason=reason,
        detail=dict(detail or {}),
        at=at,
    )
