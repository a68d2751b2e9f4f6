"""``prism_memory_trace``."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.models import RecallTrace
from prism_memory.types import Trace, uuid7
from tests.capture import tenant_in_every_statement
from tests.factories import NOON, make_scope, make_trace, remember_one

pytestmark = pytest.mark.django_db

COMMAND = "prism_memory_trace"


def keep(*ids: Any, tenant: str = "acme", **given: Any) -> Trace:
    scope = make_scope(tenant=tenant)
    trace = make_trace(*ids, **{"scope": scope, "at": timezone.now(), **given})
    assert lifecycle.write_trace(using="default", trace=trace)
    return trace


def test_list_shows_the_latest_of_one_tenant(run: Any) -> None:
    record_id = remember_one()
    remember_one(scope=make_scope(tenant="globex"))
    old, new = keep(record_id, at=NOON), keep()
    theirs = keep(tenant="globex")
    with tenant_in_every_statement("acme"):
        result = run(COMMAND, "list", "--tenant=acme")
    assert result.out.index(str(new.id)) < result.out.index(str(old.id))
    assert str(theirs.id) not in result.out
    (latest,) = run(COMMAND, "list", "--tenant=acme", "--limit=1", "--json").json
    assert (latest["id"], latest["hits"]) == (str(new.id), 0)


def test_show_tells_hits_ranks_scores_and_timings(run: Any) -> None:
    record_id = remember_one("Ada drinks tea.")
    trace = keep(record_id)
    result = run(COMMAND, "show", "--tenant=acme", trace.id)
    for words in (str(record_id), "0.9000", "bm25 1.5", "candidates 1.25", "exact"):
        assert words in result.out
    assert "drinks" not in result.out
    found = run(COMMAND, "show", "--tenant=acme", trace.id, "--json").json
    assert found["hits"] == list(trace.hits)


def test_show_knows_another_tenants_trace_as_little_as_none(run: Any) -> None:
    """B22."""
    remember_one(scope=make_scope(tenant="globex"))
    theirs = keep(tenant="globex")
    foreign = run(COMMAND, "show", "--tenant=acme", theirs.id)
    unknown = run(COMMAND, "show", "--tenant=acme", uuid7())
    assert (foreign.code, foreign.message) == (unknown.code, unknown.message)
    assert foreign.code == 1


def test_prune_removes_what_is_over_of_all_or_of_one(run: Any) -> None:
    days = dt.timedelta(days=1)
    for tenant in ("acme", "globex"):
        remember_one(scope=make_scope(tenant=tenant))
        for age in (0, 10, 40):
            keep(tenant=tenant, at=timezone.now() - age * days)
    assert run(COMMAND, "prune", "--tenant=acme").out == "Traces removed: 1.\n"
    assert run(COMMAND, "prune", "--json").json == {"removed": 1}
    assert run(COMMAND, "prune", "--older-than-days=7").out == "Traces removed: 2.\n"
    assert RecallTrace.objects.count() == 2


@pytest.mark.parametrize("days", ["0", "-1", "3651", "x"])
def test_a_span_out_of_bounds_is_wrong_usage(run: Any, days: str) -> None:
    result = run(COMMAND, "prune", f"--older-than-days={days}")
    assert result.code
    assert "must be an integer of 1 to 3650" in result.message


def test_a_tenant_that_never_was_is_told(run: Any) -> None:
    for action in ("list", "prune"):
        assert run(COMMAND, action, "--tenant=nobody").code == 1
