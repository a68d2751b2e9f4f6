"""What an event of a pruning says, and whether it is believed.

That the events of a seal are gone is believed only of the first seals of a chain, and
only if an event names the last of them by its hash, was written when they were old
enough, and is signed where there are keys.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any, Final

from prism_memory.governance.chain import Row
from prism_memory.integrity import FORMAT, Keyring, State, canonical
from prism_memory.models import AuditEvent, AuditSeal

PRUNED: Final = "audit.prune"
TRAIL: Final = "audit"
"""What an event about the trail itself is about."""

EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def detail_of(
    tenant: str, seal: AuditSeal, *, days: int, at: dt.datetime, keys: Keyring | None
) -> dict[str, Any]:
    """Return what an event says of a pruning: up to which seal, and how old all was."""
    told = {
        "through": seal.number,
        "sha256": bytes(seal.sha256).hex(),
        "days": days,
    }
    if keys is None:
        return told
    mac = keys.sign(_message(tenant, told, at))
    return told | {"mac": mac.hex(), "mac_key": keys.current}


def through(using: str, tenant: str, keys: Keyring | None) -> int:
    """Return the last seal whose events an event that is believed says are gone."""
    return max((number for number, _ in _told(using, tenant, keys)), default=0)


def believed(
    using: str, tenant: str, keys: Keyring | None, number: int
) -> Mapping[str, Any] | None:
    """Return what a believed event says of a pruning up to exactly this seal."""
    found = [detail for n, detail in _told(using, tenant, keys) if n == number]
    return found[-1] if found else None


def _told(
    using: str, tenant: str, keys: Keyring | None
) -> Iterable[tuple[int, Mapping[str, Any]]]:
    rows = AuditEvent.objects.using(using).filter(
        tenant=tenant, target=TRAIL, action=PRUNED
    )
    events = [
        (detail, at)
        for detail, at in rows.order_by("id").values_list("detail", "at")
        if isinstance(detail, dict) and _is_number(detail.get("through"))
    ]
    numbers = {detail["through"] for detail, _ in events}
    seals = AuditSeal.objects.using(using).filter(tenant=tenant, number__in=numbers)
    by_number = {seal.number: seal for seal in seals}
    for detail, at in events:
        seal = by_number.get(detail["through"])
        if seal is not None and _fits(tenant, seal, detail, at, keys):
            yield seal.number, detail


def _fits(
    tenant: str, seal: AuditSeal, told: Row, at: dt.datetime, keys: Keyring | None
) -> bool:
    days: Any = told.get("days")
    if not _is_number(days):
        return False
    try:
        before = at - dt.timedelta(days=days)
    except OverflowError:
        return False
    same = told.get("sha256") == bytes(seal.sha256).hex()
    old = (seal.last_at or seal.at) < before
    return same and old and (keys is None or _is_signed(keys, tenant, told, at))


def _is_signed(keys: Keyring, tenant: str, told: Row, at: dt.datetime) -> bool:
    try:
        mac = bytes.fromhex(told["mac"])
    except (KeyError, TypeError, ValueError):
        return False
    key = told.get("mac_key")
    if not isinstance(key, str):
        return False
    return keys.state(_message(tenant, told, at), mac, key) is State.INTACT


def _message(tenant: str, told: Row, at: dt.datetime) -> bytes:
    moment = (at - EPOCH) // dt.timedelta(microseconds=1)
    parts = (told["through"], told["sha256"], told["days"], moment)
    return canonical("prism_memory.prune", FORMAT, tenant, *parts)


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**63
