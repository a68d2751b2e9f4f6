"""How much is read to find what stands beside a hit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from prism_memory.models import Record
from prism_memory.recall.adjacent import adjacent
from prism_memory.types import SourceRef
from tests.capture import captured
from tests.factories import remember_one
from tests.kept import kept
from tests.recall.asked import hit_of, make_reader

pytestmark = pytest.mark.django_db

MANY = 20_000

BULK = """
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
        sha256, uses, metadata, trust, writer, consent_source, consent_scope, visible,
        gate, gate_reason, gate_markers, created_at, version, source_id, ordinal,
        sequence)
SELECT gen_random_uuid(), tenant, scope_id, kind, '', '', '', key || '-' || number,
       'words', language, sha256, 1, '{}', trust, writer, consent_source,
       consent_scope, number %% %s = 0, 'open', '', '[]', created_at, 1, source_id,
       CASE WHEN source_id IS NOT NULL THEN number END,
       CASE WHEN source_id IS NOT NULL THEN number + 100000 ELSE number END
  FROM prism_memory_record, generate_series(1, %s) AS number
 WHERE tenant = 'acme' AND key IN ('plain', 'turn')
"""


@pytest.fixture(scope="module")
def filled(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """Fill a scope, and a source; one of so many rows is in sight as the test says."""
    with kept(django_db_blocker):
        remember_one("a", key="plain")
        remember_one("b", key="turn", source=SourceRef("chat"))
        with connection.cursor() as cursor:
            cursor.execute(BULK, [request.param, MANY])
        yield


def most_rows_read(*, generic: bool = False, known: bool = True) -> tuple[float, str]:
    """Ask beside the scope's middle; return the most rows of any step, and the plan.

    Args:
        generic: By the plan of a prepared statement, which serves any values.
        known: The planner has statistics.
    """
    if known:
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE prism_memory_record")
    middle = [f"plain-{MANY // 2}", f"turn-{MANY // 2}"]
    ids = Record.objects.filter(tenant="acme", key__in=middle)
    hits = [hit_of(i) for i in ids.values_list("id", flat=True)]
    assert len(hits) == 2
    with captured() as seen:
        found = adjacent(
            using="default", reader=make_reader(), hits=hits, message_range=4
        )
    assert len(found) == 16
    ((statement, given),) = seen.statements
    plan = explained(statement, given, generic=generic)
    assert "prism_memory_record_stream" in plan
    assert "prism_memory_record_order" in plan
    assert "Seq Scan on prism_memory_record" not in plan
    counted = re.findall(r"actual rows=([\d.]+) loops|Removed by Filter: (\d+)", plan)
    return max(float(number) for pair in counted for number in pair if number), plan


def explained(statement: str, given: dict[str, Any], *, generic: bool) -> str:
    explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)"
    asked = [f"{explain} {statement}"]
    if generic:
        used = [name for name in given if f"%({name})s" in statement]
        places = {name: f"${number}" for number, name in enumerate(used, start=1)}
        values = ", ".join(f"%({name})s" for name in used)
        asked = [
            "SET LOCAL plan_cache_mode = force_generic_plan",
            f"PREPARE walk AS {statement % places}",
            f"{explain} EXECUTE walk ({values})",
        ]
    with connection.cursor() as cursor:
        for text in asked:
            cursor.execute(text, given)
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("DEALLOCATE ALL")
    return plan


WAYS = [{}, {"generic": True}, {"known": False}, {"generic": True, "known": False}]


@pytest.mark.parametrize("filled", [1], indirect=True)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.usefixtures("filled")
def test_a_walk_ends_at_the_rows_that_are_wanted(how: dict[str, bool]) -> None:
    """case_C33: 20,000 rows of the scope, and as many of the source."""
    rows, plan = most_rows_read(**how)
    assert rows <= 16, plan  # of the answer


@pytest.mark.parametrize("filled", [100], indirect=True)
@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.usefixtures("filled")
def test_a_walk_reads_no_further_than_past_what_is_hidden(how: dict[str, bool]) -> None:
    """B131: of 20,000 rows each hundredth is in sight."""
    rows, plan = most_rows_read(**how)
    assert rows <= 400, plan
