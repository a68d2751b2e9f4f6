"""case_C33: what one step of the queue costs does not grow with what is embedded.

Counted in rows that are read, and in pages that are touched; not in time. An index of
more levels, and what the updates before left behind, cost some pages more a row.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from prism_memory.db.queries import named
from prism_memory.indexing import claims
from prism_memory.models import Embedding
from tests.factories import make_scope, remember
from tests.indexing.conftest import space
from tests.recall.bulk import analyze, fill
from tests.tables import make_fresh

pytestmark = pytest.mark.django_db

TABLE = "prism_memory_embedding"
QUEUE_INDEXES = {"prism_memory_embedding_queue", "prism_memory_embedding_pkey"}
STEPS = ("has_waiting", "claim", "write_vectors", "put_back", "give_up")


class Rollback(Exception):
    """Undo what a measured statement did."""


def explained(name, given):
    """Run a statement, undo it; return the pages it touched and its plan."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            statement = named("indexing")[name]
            cursor.execute(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", given
            )
            (plan,) = cursor.fetchone()
            raise Rollback
    except Rollback:
        plan = json.loads(plan) if isinstance(plan, str) else plan
    root = plan[0]["Plan"]
    return root["Shared Hit Blocks"] + root["Shared Read Blocks"], root


def rows_read(plan):
    """Return how many rows the scans of a plan looked at, those they dropped too."""
    return sum(
        rows_of(node) for node in nodes(plan) if node["Node Type"].endswith("Scan")
    )


def rows_of(node):
    """Return how many rows one scan looked at."""
    dropped = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
    found = node["Actual Rows"] + sum(node.get(name, 0) for name in dropped)
    return node["Actual Loops"] * found


def check_flat(now, before):
    """It costs no multiple of what it did: far from the 5,000 rows and more added."""
    for name in STEPS:
        (pages, plan), (pages_before, plan_before) = now[name], before[name]
        assert rows_read(plan) < 3 * rows_read(plan_before) + 150, name
        assert pages < 3 * pages_before + 150, (name, pages, pages_before)


def nodes(plan):
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def check_plan(plan):
    """The embeddings are only reached through the queue's index or the key."""
    for node in nodes(plan):
        if node.get("Relation Name") == TABLE:
            assert node["Node Type"] != "Seq Scan"
        if node.get("Index Name", "").startswith("prism_memory_embedding_"):
            assert node["Index Name"] in QUEUE_INDEXES


def measure():
    """Return the pages and the plan of each step over 50 texts that wait.

    Indexes are made anew: what tests before filled and rolled back stands in their
    pages, and the planner would think of reading those.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"REINDEX TABLE {TABLE}")
    analyze()
    queue = claims.Queue("default", "acme", space())
    measured: dict[str, tuple[int, Any]] = {}
    with transaction.atomic():
        given = {**queue.place, "rows": 32, "claim_seconds": 60, "record_ids": None}
        check = partial(_measure, measured)
        check("has_waiting", queue.place)
        check("give_up", queue.place)
        check("claim", given)
        held = claims.claim(queue, 32, None)
        ids = [item.record_id for item in held]
        check(
            "write_vectors",
            {
                **queue.place,
                "record_ids": ids,
                "sha256s": [item.sha256 for item in held],
                "vectors": ["[1" + ",0" * 63 + "]"] * 32,
            },
        )
        check(
            "put_back",
            {
                **queue.place,
                "record_ids": ids,
                "claims": [item.claimed_until for item in held],
                "errors": ["It failed."] * 32,
                "seconds": [10.0] * 32,
                "forgivens": [0] * 32,
            },
        )
        transaction.set_rollback(True)
    return measured


def _measure(measured, name, given):
    measured[name] = explained(name, given)


def test_the_cost_is_flat_from_1_000_to_20_000_embedded_and_5_000_failed():
    scope = make_scope()
    remember("Seed.", wait=True)
    fill(scope, 1_000)
    remember(*(f"Waits {n}." for n in range(50)), scope=scope)
    small = measure()
    fill(scope, 19_000, text="more")
    large = measure()
    failed = Embedding.objects.filter(tenant="acme").exclude(vector=None)
    ids = list(failed.values_list("record_id", flat=True)[:5_000])
    failed.filter(record_id__in=ids).update(vector=None, failed_at=timezone.now())
    with_failed = measure()
    assert set(small) == set(STEPS)
    for measured in (large, with_failed):
        check_flat(measured, small)
        for _, plan in measured.values():
            check_plan(plan)


def test_a_claim_costs_the_same_however_long_the_queue_is():
    scope = make_scope()
    remember("Seed.", wait=True)
    remember(*(f"Waits {n}." for n in range(100)), scope=scope)
    fill(scope, 4_000)
    short = measure()
    Embedding.objects.filter(tenant="acme").update(vector=None)
    long = measure()
    short["give_up"] = long["give_up"]  # once a drain, over what is left then
    check_flat(long, short)


def test_a_failed_one_is_visible_and_can_be_retried_among_many():
    """case_C33, its other half; see also test_drain."""
    remember(*(f"Note {n}." for n in range(30)))
    Embedding.objects.update(failed_at=timezone.now())
    queue = claims.Queue("default", "acme", space())
    assert claims.claim(queue, 100, None) == []
    retried = claims.retry_failed(using="default", tenant="acme", space=space())
    assert retried == 30
    assert len(claims.claim(queue, 100, None)) == 30


def explained_generic(name, given):
    """Run a prepared statement by the plan that serves any values; return the plan."""
    statement = named("indexing")[name]
    given = {key: value for key, value in given.items() if f"%({key})s" in statement}
    places = {key: f"${number}" for number, key in enumerate(given, 1)}
    named_values = ", ".join(f"%({key})s" for key in given)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE prepared AS {statement % places}")
        cursor.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE prepared ({named_values})", given
        )
        (plan,) = cursor.fetchone()
        cursor.execute("DEALLOCATE prepared")
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return plan[0]["Plan"]


def test_a_batch_alone_is_read_before_anything_is_known_of_the_table():
    """A first import is embedded before autovacuum has seen the tables.

    Without statistics all that waits looks like one row. A plan for that would read
    the whole batch again, and parse its vectors anew, for each row that waits.
    """
    waiting = 300
    make_fresh()  # what is known of files that other tests grew is known too
    remember("Seed.", wait=True)
    remember(*(f"Waits {n}." for n in range(waiting)))
    queue = claims.Queue("default", "acme", space())
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "DELETE FROM pg_statistic WHERE starelid IN"
                " (SELECT oid FROM pg_class WHERE relname LIKE 'prism_memory_%')"
            )
        held = claims.claim(queue, 50, None)
        given = {
            **queue.place,
            "record_ids": [item.record_id for item in held],
            "sha256s": [item.sha256 for item in held],
            "vectors": ["[1" + ",0" * 63 + "]"] * len(held),
        }
        plan = explained_generic("write_vectors", given)
        transaction.set_rollback(True)
    (parsed,) = [n for n in nodes(plan) if n["Node Type"] == "Function Scan"]
    assert parsed["Actual Loops"] == 1
    # The node that updates names the table too, and reads nothing.
    reached = [
        node
        for node in nodes(plan)
        if node.get("Relation Name") == TABLE and node["Node Type"] != "ModifyTable"
    ]
    # Once each, not those that wait for each of the batch: that would be 15,000.
    assert sum(rows_of(node) for node in reached) < 2 * (waiting + len(held))
    check_plan(plan)
