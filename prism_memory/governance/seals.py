"""Seal what the audit says: a chain that an edit behind the app's back breaks.

Who writes events never waits. One that commits late, with an earlier id than those that
are sealed already, comes under the next seal.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.db.tenancy import for_tenant
from prism_memory.governance import manifest
from prism_memory.governance.chain import (
    NOTHING_BEFORE,
    Row,
    digest_of,
    mac_message,
    mac_state,
    sha256_of,
)
from prism_memory.governance.findings import Finding, Wrong
from prism_memory.governance.pages import event_columns, own_seals
from prism_memory.governance.pruned import EPOCH, TRAIL
from prism_memory.integrity import State, keyring
from prism_memory.models import AuditSeal
from prism_memory.types import Actor

EVENTS_AT_MOST: Final = 10_000
"""Under one seal; what is more comes under the next."""

IDS_AT_MOST: Final = 100
"""That one event names; the seal counts all."""

VIOLATION: Final = "audit.violation"
VIOLATIONS: Final = (
    Wrong.RECORD_VANISHED,
    Wrong.RECORD_SET_BACK,
    Wrong.UNLISTED,
    Wrong.MANIFEST_CHANGED,
)


@dataclass(frozen=True)
class Sealed:
    """One seal that was made.

    Args:
        violations: Records that were removed or set back unaccounted for, and edits of
            the manifest.
        findings: The first thousand of them.
    """

    tenant: str
    number: int
    events: int
    sha256: str
    signed: bool
    violations: int = 0
    findings: Sequence[Finding] = ()


@for_tenant
def seal(
    *,
    using: str,
    tenant: str,
    at: dt.datetime,
    content: bool = False,
    actor: Actor | None = None,
    most: int = EVENTS_AT_MOST,
) -> tuple[Sealed, ...]:
    """Seal all committed events of a tenant that no seal is over; return the seals.

    Each seal is a transaction of its own. Where nothing is new, none is made.

    Args:
        tenant: Empty for the installation's events.
        content: Seal also which records there are and at which versions, once what is
            there was compared with what was sealed before. Reads each record's id.
        actor: Who is said to have found what is wrong.
        most: Events under one seal.

    Raises:
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    made: list[Sealed] = []
    while True:
        with transaction.atomic(using=using):
            own_seals(using, tenant)
            look = _content(using, tenant, actor or Actor(), at) if content else None
            one = _seal(using, tenant, at, look, most)
        if one is None:
            return tuple(made)
        made.append(one)
        content = False
        if one.events < most:
            return tuple(made)


@dataclass(frozen=True)
class _Content:
    root: bytes | None
    look: manifest.Look


def _content(using: str, tenant: str, actor: Actor, at: dt.datetime) -> _Content:
    sealed = manifest.sealed_root(using, tenant)
    root, look = manifest.take(using=using, tenant=tenant)
    for wrong in VIOLATIONS:
        refs = [one.ref for one in look.findings.listed if one.wrong is wrong]
        if refs:
            audit.record(
                using=using,
                tenant=tenant,
                actor=actor,
                action=VIOLATION,
                target=TRAIL,
                at=at,
                detail={
                    "wrong": str(wrong),
                    "count": len(refs),
                    "refs": refs[:IDS_AT_MOST],
                },
            )
    is_new = root.value != sealed and (sealed is not None or root.blocks > 0)
    return _Content(root.value if is_new else None, look)


def _seal(
    using: str, tenant: str, at: dt.datetime, content: _Content | None, most: int
) -> Sealed | None:
    last = AuditSeal.objects.using(using).filter(tenant=tenant)
    before = last.order_by("-number").first()
    number = before.number + 1 if before else 1
    statement = composed("audit", "take_events", columns=event_columns())
    given = {"tenant": tenant, "number": number, "rows": most}
    events = sorted(queries.fetch(using, statement, given), key=lambda row: row["id"])
    root = content.root if content else None
    if not (events or root or (before and _is_to_be_signed(tenant, before))):
        return None
    findings = content.look.findings if content else None
    made = {
        "number": number,
        "events": len(events),
        "digest": digest_of(tenant, events).value,
        "previous": bytes(before.sha256) if before else NOTHING_BEFORE,
        "content": root,
        "violations": findings.count if findings else 0,
        **_times(events, at),
    }
    row = _write(using, tenant, made)
    return Sealed(
        tenant,
        number,
        len(events),
        row.sha256.hex(),
        row.mac is not None,
        row.violations,
        tuple(findings.listed) if findings else (),
    )


def _is_to_be_signed(tenant: str, last: AuditSeal) -> bool:
    """Tell whether the end of a chain has no signature yet, or one by an older key."""
    keys = keyring()
    if keys is None:
        return False
    if last.mac is None:
        return True
    return last.mac_key != keys.current and (
        mac_state(keys, tenant, vars(last)) is State.INTACT
    )


def _write(using: str, tenant: str, made: Row) -> AuditSeal:
    """Store a seal, hashed over all that it says, and signed where there is a key."""
    hashed = {**made, "sha256": sha256_of(tenant, made)}
    keys = keyring()
    return AuditSeal.objects.using(using).create(
        tenant=tenant,
        mac=keys.sign(mac_message(tenant, hashed)) if keys else None,
        mac_key=keys.current if keys else None,
        **{
            name: _moment(value) if name in {"first_at", "last_at", "at"} else value
            for name, value in hashed.items()
        },
    )


def _times(events: Sequence[Row], at: dt.datetime) -> dict[str, Any]:
    moments = [int(row["at"]) for row in events]
    return {
        "first_at": str(min(moments)) if moments else None,
        "last_at": str(max(moments)) if moments else None,
        "at": str((at - EPOCH) // dt.timedelta(microseconds=1)),
    }


def _moment(microseconds: str | None) -> dt.datetime | None:
    if microseconds is None:
        return None
    return EPOCH + dt.timedelta(microseconds=int(microseconds))
