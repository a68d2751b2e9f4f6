"""A trail of events, and edits of it behind the app's back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.db import connection

from prism_memory import audit, governance
from prism_memory.governance import Sealed, Verified
from prism_memory.models import AuditEvent
from prism_memory.types import Actor
from tests.factories import NOON

KEYS = {"k1": "a secret of thirty-two bytes, or more"}
OTHER_KEYS = {"k2": "another secret of thirty-two bytes or more", **KEYS}

GONE = dt.timedelta(days=400)


def act(count: int = 1, *, tenant: str = "acme", at: dt.datetime = NOON) -> None:
    """Write events, a second apart."""
    for number in range(count):
        audit.record(
            using="default",
            tenant=tenant,
            actor=Actor("user:1"),
            action="memory.test",
            target=f"record:{number}",
            at=at + dt.timedelta(seconds=number),
            reason="because",
            detail={"number": number, "of": [count]},
        )


def seal(tenant: str = "acme", **given: Any) -> tuple[Sealed, ...]:
    return governance.seal(
        **{"using": "default", "tenant": tenant, "at": NOON, **given}
    )


def verify(tenant: str = "acme", **given: Any) -> Verified:
    return governance.verify(using="default", tenant=tenant, **given)


def wrongs(tenant: str = "acme", **given: Any) -> list[tuple[str, str]]:
    """Return what is found wrong, and on what."""
    found = verify(tenant, **given).findings
    assert found.count == len(found.listed)
    return [(str(one.wrong), one.ref) for one in found.listed]


def heads(tenant: str = "acme") -> tuple[governance.Head, ...]:
    """Return what an operator keeps outside, as it comes back from a file."""
    found = governance.head(using="default", tenant=tenant)
    assert found is not None
    return governance.read_heads([found.line()])


def run(statement: str, given: Mapping[str, Any] | None = None) -> int:
    """Edit the database as somebody would who does not use the app."""
    with connection.cursor() as cursor:
        cursor.execute(statement, given or {})
        return int(cursor.rowcount)


def event_ids(tenant: str = "acme") -> list[Any]:
    rows = AuditEvent.objects.filter(tenant=tenant).order_by("id")
    return list(rows.values_list("id", flat=True))
