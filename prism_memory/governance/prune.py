"""Let old events go, and keep the seals that were over them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Invalid
from prism_memory.governance import pages, pruned
from prism_memory.governance.chain import digest_of
from prism_memory.governance.pruned import PRUNED, TRAIL
from prism_memory.governance.seals import EVENTS_AT_MOST
from prism_memory.integrity import keyring
from prism_memory.models import AuditEvent, AuditSeal
from prism_memory.types import Actor

SEALS_AT_MOST: Final = 1_000


@dataclass(frozen=True)
class Pruned:
    """What went.

    Args:
        events: How many.
        seals: How many seals they were under, which stay.
        through: Number of the last of those; 0 where nothing went.
    """

    events: int = 0
    seals: int = 0
    through: int = 0


@for_tenant
def prune(
    *,
    using: str,
    tenant: str,
    older_than_days: int,
    actor: Actor,
    at: dt.datetime,
    reason: str = "",
    most: int = EVENTS_AT_MOST,
) -> Pruned:
    """Delete the events of a tenant's oldest seals, while all under them are older.

    In batches that each commit by themselves, each with an event that says so: without
    it, seals with no events are found by ``verify``. What is not sealed stays.

    Args:
        older_than_days: Age that every event of a seal has passed, from 1.
        reason: For the audit; no text content.
        most: Events of one batch, unless a single seal has more.

    Raises:
        Invalid: The age is no integer from 1.
        Conflict: The events of a seal are not those that it sealed, or no event bears
            out that earlier ones were pruned: what was done before stays done, and
            ``verify`` says what is wrong.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    given: object = older_than_days
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        message = "older_than_days must be an integer from 1."
        raise Invalid(message, field="older_than_days")
    try:
        before = at - dt.timedelta(days=older_than_days)
    except OverflowError:
        message = "older_than_days is before the calendar begins."
        raise Invalid(message, field="older_than_days") from None
    total = Pruned()
    while True:
        with transaction.atomic(using=using):
            pages.own_seals(using, tenant)
            _refuse_untold(using, tenant)
            seals = _oldest(using, tenant, before, most)
            if not seals:
                return total
            done = _delete(using, tenant, seals, at)
            audit.record(
                using=using,
                tenant=tenant,
                actor=actor,
                action=PRUNED,
                target=TRAIL,
                at=at,
                reason=reason,
                detail=vars(done)
                | pruned.detail_of(
                    tenant, seals[-1], days=given, at=at, keys=keyring()
                ),
            )
        total = Pruned(
            total.events + done.events, total.seals + done.seals, done.through
        )


@for_tenant
def tell_again(*, using: str, tenant: str, actor: Actor, at: dt.datetime) -> bool:
    """Have the current key sign what was pruned: up to where a known one signed it.

    For a change of keys, and where the events were pruned before there was one.
    """
    keys = keyring()
    with transaction.atomic(using=using):
        pages.own_seals(using, tenant)
        last = _last_pruned(using, tenant)
        if keys is None or last is None:
            return False
        told = pruned.believed(using, tenant, keys, last.number)
        if told is None and not _told_signed(using, tenant):
            told = pruned.believed(using, tenant, None, last.number)
        if told is None or told.get("mac_key") == keys.current:
            return False
        detail = pruned.detail_of(tenant, last, days=told["days"], at=at, keys=keys)
        audit.record(
            using=using,
            tenant=tenant,
            actor=actor,
            action=PRUNED,
            target=TRAIL,
            at=at,
            detail={"events": 0, "seals": 0, **detail},
        )
    return True


def _told_signed(using: str, tenant: str) -> bool:
    """Tell whether a pruning was ever signed: then one without a key is no old one."""
    told = AuditEvent.objects.using(using).filter(
        tenant=tenant, target=TRAIL, action=PRUNED, detail__has_key="mac"
    )
    return told.exists()


def _last_pruned(using: str, tenant: str) -> AuditSeal | None:
    seals = AuditSeal.objects.using(using).filter(
        tenant=tenant, pruned_at__isnull=False
    )
    return seals.order_by("-number").first()


def _refuse_untold(using: str, tenant: str) -> None:
    """Keep what shows that a seal was only said to be pruned: it would be covered."""
    last = _last_pruned(using, tenant)
    if last is None:
        return
    kept = AuditSeal.objects.using(using).filter(
        tenant=tenant, number__lt=last.number, pruned_at__isnull=True
    )
    if kept.exists() or last.number > pruned.through(using, tenant, keyring()):
        message = (
            f"No event bears out that what was under seal {last.number} was pruned. See"
            " verify; if there was no key then, sign first."
        )
        raise Conflict(message, field="seal")


def _oldest(using: str, tenant: str, before: dt.datetime, most: int) -> list[AuditSeal]:
    """Return the first seals that may go, of about ``most`` events; whole ones only."""
    rows = AuditSeal.objects.using(using).filter(tenant=tenant, pruned_at__isnull=True)
    found: list[AuditSeal] = []
    events = 0
    for seal in rows.order_by("number")[:SEALS_AT_MOST]:
        if (seal.last_at or seal.at) >= before:
            break
        if found and events + seal.events > most:
            break
        found.append(seal)
        events += seal.events
    return found


def _refuse_edited(using: str, tenant: str, seals: Sequence[AuditSeal]) -> None:
    """Keep what shows an edit."""
    first, last = seals[0].number, seals[-1].number
    events = takewhile(
        lambda row: row["seal"] <= last,
        pages.sealed_events(using, tenant, from_seal=first),
    )
    found = {
        number: digest_of(tenant, rows).value
        for number, rows in groupby(events, key=itemgetter("seal"))
    }
    nothing = digest_of(tenant, ()).value
    for seal in seals:
        if found.get(seal.number, nothing) != bytes(seal.digest):
            message = f"The events of seal {seal.number} are not those it sealed."
            raise Conflict(message, field="seal")


def _delete(
    using: str, tenant: str, seals: Sequence[AuditSeal], at: dt.datetime
) -> Pruned:
    _refuse_edited(using, tenant, seals)
    numbers = [seal.number for seal in seals]
    events = AuditEvent.objects.using(using).filter(tenant=tenant, seal__in=numbers)
    count = events._raw_delete(using)  # noqa: SLF001 - Django's own would load them
    rows = AuditSeal.objects.using(using).filter(tenant=tenant, number__in=numbers)
    rows.update(pruned_at=at)
    return Pruned(count, len(numbers), numbers[-1])
