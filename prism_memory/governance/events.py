"""Read a tenant's trail, newest first."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import ScopeDenied
from prism_memory.models import AuditEvent
from prism_memory.recall import cursors
from prism_memory.types import Scope, check_text, check_time


@dataclass(frozen=True)
class Event:
    """One governing act. No text of any record.

    Args:
        seal: Number of the seal over it, or None while none is.
    """

    id: uuid.UUID
    at: dt.datetime
    actor: str
    action: str
    target: str
    reason: str
    detail: dict[str, Any]
    seal: int | None


@dataclass(frozen=True)
class EventPage:
    """One page of a trail.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: Sequence[Event] = ()
    next_cursor: str | None = None


@for_tenant
def list_events(
    *,
    using: str,
    scope: Scope,
    rows: int,
    cursor: str | None = None,
    action: str | None = None,
    target: str | None = None,
    since: dt.datetime | None = None,
) -> EventPage:
    """Return a page of a tenant's events, newest first. One query.

    An event carries no scope, and its ids, reasons and actors are of anybody in the
    tenant: so only who stands at the tenant itself may read it.

    Args:
        action: Only of this one, such as ``memory.forget``.
        target: Only about this ref.
        since: Not older.

    Raises:
        ScopeDenied: The scope is an owner's, or below one.
        Invalid: The cursor is none of ours, or a filter cannot be one.
    """
    if scope.owner or scope.agent or scope.thread:
        message = "The audit is the tenant's: credentials of an owner do not open it."
        raise ScopeDenied(message, field="scope")
    found = AuditEvent.objects.using(using).filter(tenant=scope.tenant)
    for name, value in (("action", action), ("target", target)):
        if value is not None:
            found = found.filter(**{name: check_text(value, name)})
    if (moment := check_time(since, "since")) is not None:
        found = found.filter(at__gte=moment)
    if cursor is not None:
        at, event_id = read_cursor(cursor)
        found = found.filter(at__lte=at).filter(Q(at__lt=at) | Q(id__lt=event_id))
    page = list(found.order_by("-at", "-id")[: rows + 1])
    items = tuple(map(_event, page[:rows]))
    return EventPage(items, write_cursor(items[-1]) if len(page) > rows else None)


def _event(row: AuditEvent) -> Event:
    names = ("id", "at", "actor", "action", "target", "reason", "detail", "seal")
    return Event(**{name: getattr(row, name) for name in names})


def write_cursor(last: Event) -> str:
    """Return the cursor of the page after ``last``."""
    return cursors.write("audit", last.at.isoformat(), last.id.hex)


def read_cursor(cursor: str) -> tuple[dt.datetime, uuid.UUID]:
    """Return where a page begins: after this moment and id.

    Raises:
        Invalid: Too long, or not made by ``write_cursor``.
    """
    at, event_id = cursors.read(cursor, "audit")
    try:
        moment = dt.datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise ValueError
        return moment, uuid.UUID(hex=event_id)
    except (ValueError, TypeError, AttributeError):
        raise cursors.unknown() from None
