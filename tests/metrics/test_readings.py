"""What is kept of each hour, of whom, and for how long."""

from __future__ import annotations

import datetime as dt

import pytest
from django.utils import timezone

from prism_memory import metrics
from prism_memory.metrics.readings import MOST_WORST, hour_of
from prism_memory.models import Embedding, Reading
from prism_memory.types import Scope
from tests.capture import captured, unnamed_tables
from tests.factories import make_memory

pytestmark = pytest.mark.django_db

NOON = dt.datetime(2026, 6, 1, 12, 5, tzinfo=dt.UTC)
MINUTES = dt.timedelta(minutes=5)


def take(at: dt.datetime = NOON) -> int:
    return metrics.take_readings(using="default", at=at)


def day(tenant: str, at: dt.datetime = NOON) -> list[metrics.Point]:
    return metrics.day_of(using="default", tenant=tenant, at=at)


def test_of_an_hour_the_most_is_kept() -> None:
    make_memory(Scope("acme")).remember(["a", "b"])
    take()
    Embedding.objects.filter(tenant="acme").update(failed_at=timezone.now())
    take(NOON + MINUTES)
    (point,) = day("acme")
    assert point.hour == hour_of(NOON)
    assert (point.counts["pending"], point.counts["failed"]) == (2, 2)
    assert point.at == NOON + MINUTES
    take(NOON + dt.timedelta(hours=1))
    assert [p.counts["pending"] for p in day("acme", NOON + dt.timedelta(hours=1))] == [
        2,
        0,
    ]


def test_of_who_has_nothing_to_tell_nothing_is_kept() -> None:
    make_memory(Scope("acme")).remember("a", wait=True)
    assert take() == 2
    assert not Reading.objects.filter(tenant="acme").exists()
    assert Reading.objects.get(tenant="").counts["pending"] == 0


def test_the_installations_names_the_tenants_with_the_most_to_do() -> None:
    for n in range(MOST_WORST + 2):
        make_memory(Scope(f"t{n:02}")).remember([f"text {m}" for m in range(1 + n % 3)])
    Embedding.objects.filter(tenant="t09").update(failed_at=timezone.now())
    take()
    (point,) = day("")
    names = [name for name, _counts in point.worst]
    assert len(names) == MOST_WORST
    assert names[:2] == ["t09", "t02"]
    assert point.counts["failed"] == 1


def test_a_tenant_sees_none_of_anothers_readings() -> None:
    make_memory(Scope("acme")).remember("a")
    take()
    assert len(day("acme")) == 1
    assert day("globex") == []
    (point,) = day("acme")
    assert point.worst == ()


def test_what_is_older_than_two_days_is_dropped() -> None:
    """A table that is bounded: 49 rows a tenant."""
    make_memory(Scope("acme")).remember("a")
    for hours in range(60):
        metrics.readings.keep(
            using="default",
            tenant="acme",
            counts={"pending": hours},
            at=NOON + dt.timedelta(hours=hours),
        )
    end = NOON + dt.timedelta(hours=59)
    take(end)
    assert Reading.objects.filter(tenant="acme").count() == 48
    assert len(day("acme", end)) == 24


def test_every_statement_names_the_tenant() -> None:
    """B22."""
    make_memory(Scope("acme")).remember("a")
    with captured() as seen:
        take()
        day("acme")
    assert not [sql for sql, _given in seen.statements if unnamed_tables(sql)]
