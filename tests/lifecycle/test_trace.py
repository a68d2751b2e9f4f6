"""Traces: kept once, without a text, and let go after their time."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from prism_memory import lifecycle
from prism_memory.models import RecallTrace
from prism_memory.types import Scope, Trace
from tests.capture import captured, tenant_in_every_statement
from tests.factories import NOON, make_scope, make_trace, remember_one

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


def write(trace: Trace) -> bool:
    return lifecycle.write_trace(using="default", trace=trace)


def prune(*tenants: str, **given: Any) -> int:
    defaults: dict[str, Any] = {"using": "default", "at": NOON, "days": 30}
    return lifecycle.prune_traces(tenants=tenants, **{**defaults, **given})


def test_a_trace_says_where_what_and_why() -> None:
    record_id = remember_one()
    trace = make_trace(record_id)
    with tenant_in_every_statement("acme") as seen:
        assert write(trace)
    assert len(seen.on_tenants()) == 2  # was it erased since?
    row = RecallTrace.objects.get(tenant="acme")
    assert (row.id, row.scope, row.scope_id) == (trace.id, trace.scope, trace.scope.id)
    assert (row.mode, row.strategy, row.actor) == ("chain", "exact", "system")
    assert bytes(row.query_sha256) == trace.query_sha256
    assert row.hits == list(trace.hits)
    assert (row.options, row.timings_ms) == (trace.options, trace.timings_ms)


def test_a_trace_that_comes_twice_is_kept_once() -> None:
    remember_one()
    trace = make_trace()
    write(trace)
    before = RecallTrace.objects.values().get()
    assert write(make_trace(id=trace.id, strategy="index"))
    assert RecallTrace.objects.values().get() == before


def test_a_reader_may_stand_where_nothing_was_ever_written() -> None:
    remember_one()
    write(make_trace(scope=make_scope(thread="new")))
    assert RecallTrace.objects.get().thread == "new"


def test_a_tenant_that_never_was_leaves_no_row() -> None:
    remember_one()
    assert not write(make_trace(scope=Scope("mistyped", "ada")))
    assert not RecallTrace.objects.exists()


def test_a_message_carries_it_whole() -> None:
    record_id = remember_one()
    trace = make_trace(record_id)
    assert Trace.from_json(json.loads(json.dumps(trace.to_json()))) == trace
    assert trace.record_ids == (record_id,)


@pytest.mark.parametrize(("batch", "statements"), [(1, 4), (2, 3), (1_000, 2)])
def test_old_traces_go_in_batches_and_young_ones_stay(
    batch: int, statements: int
) -> None:
    """The last statement of each finds nothing more."""
    remember_one()
    for days in (10, 29, 30, 31, 32, 400):
        write(make_trace(at=NOON - days * DAY))
    with captured() as seen:
        assert prune("acme", batch=batch) == 3
    assert min(RecallTrace.objects.values_list("at", flat=True)) == NOON - 30 * DAY
    assert RecallTrace.objects.count() == 3
    assert len(seen.statements) == statements


def test_only_the_named_tenants_traces_are_pruned() -> None:
    for tenant in ("acme", "globex"):
        remember_one(scope=make_scope(tenant=tenant))
        write(make_trace(scope=make_scope(tenant=tenant), at=NOON - 40 * DAY))
    with tenant_in_every_statement("acme"):
        assert prune("acme") == 1
    assert [row.tenant for row in RecallTrace.objects.all()] == ["globex"]
