"""Keep how it stood, by the hour, for two days: what charts are drawn of."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory import indexing
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.metrics.state import TenantState, as_json, spaces, state_of, totals
from prism_memory.types import uuid7

HOUR: Final = dt.timedelta(hours=1)
KEPT: Final = dt.timedelta(hours=48)
MOST_WORST: Final = 20
INSTALLATION: Final = ""


@dataclass(frozen=True)
class Point:
    """How it stood in one hour.

    Args:
        counts: The most of each.
        worst: Of the installation: tenants with the most to do, and their counts.
        at: When it was read last.
    """

    hour: dt.datetime
    counts: dict[str, int]
    worst: tuple[tuple[str, dict[str, int]], ...]
    at: dt.datetime


def take_readings(*, using: str, at: dt.datetime) -> int:
    """Read every tenant, and keep what there is to tell; return how many were read.

    One to three queries a tenant; what is older than two days is dropped.
    """
    ids = [space.id for space in spaces(using=using)]
    states: dict[str, TenantState] = {}
    read = 0
    for tenant in _all(using):
        read += 1
        state = state_of(using=using, tenant=tenant, space_ids=ids)
        if tenant != INSTALLATION and not state.is_quiet:
            keep(using=using, tenant=tenant, counts=state.counts, at=at)
        if not state.is_quiet:
            states[tenant] = state
        drop(using=using, tenant=tenant, at=at)
    summed = totals(states.values())
    keep(using=using, tenant=INSTALLATION, counts=summed, worst=_worst(states), at=at)
    return read


def _all(using: str) -> Iterator[str]:
    yield INSTALLATION
    yield from indexing.tenants(using=using)


def _worst(states: dict[str, TenantState]) -> list[tuple[str, dict[str, int]]]:
    """Return the tenants with the most to do: what failed first, then what waits."""

    def trouble(item: tuple[str, dict[str, int]]) -> tuple[int, int, int, str]:
        name, counts = item
        broken = counts["failed"] + counts["failed_runs"]
        return -broken, -counts["pending"], -counts["reviews"], name

    found = [(name, state.counts) for name, state in states.items() if name]
    return sorted(found, key=trouble)[:MOST_WORST]


@for_tenant
def keep(
    *,
    using: str,
    tenant: str,
    counts: dict[str, int],
    at: dt.datetime,
    worst: Sequence[object] = (),
) -> None:
    """Keep the counts of this hour; the most of each stands. One query."""
    given = {
        "tenant": tenant,
        "id": uuid7(),
        "hour": hour_of(at),
        "counts": json.dumps(counts),
        "worst": json.dumps(list(worst)),
        "at": at,
    }
    queries.execute(using, named("metrics")["keep_reading"], given)


@for_tenant
def drop(*, using: str, tenant: str, at: dt.datetime) -> None:
    """Drop what is older than two days. One query."""
    given = {"tenant": tenant, "before": at - KEPT}
    queries.execute(using, named("metrics")["drop_readings"], given)


@for_tenant
def day_of(*, using: str, tenant: str, at: dt.datetime) -> list[Point]:
    """Return how it stood in each of the last 24 hours that were read. One query."""
    given = {"tenant": tenant, "since": hour_of(at) - 23 * HOUR}
    rows = queries.fetch(using, named("metrics")["day_of_readings"], given)
    return [
        Point(row["hour"], as_json(row["counts"]), _pairs(row["worst"]), row["at"])
        for row in rows
    ]


def hour_of(moment: dt.datetime) -> dt.datetime:
    """Return when its hour began, in UTC."""
    return moment.astimezone(dt.UTC).replace(minute=0, second=0, microsecond=0)


def _pairs(found: object) -> tuple[tuple[str, dict[str, int]], ...]:
    return tuple((name, counts) for name, counts in as_json(found))
