"""An entity of which thousands of facts speak costs as much as any (B398)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection

from prism_memory.models import Record
from prism_memory.recall.candidates.entity import LOOKS
from tests.capture import captured
from tests.factories import make_memory
from tests.facts.rows import make_fact
from tests.tables import make_fresh

pytestmark = pytest.mark.django_db

HUB = 5_000
LOST = ("Filter", "Join Filter", "Index Recheck")

FILL = """
WITH made AS (
  INSERT INTO prism_memory_record
         (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
          sha256, uses, metadata, trust, writer, consent_source, consent_scope, gate,
          gate_reason, gate_markers, created_at, version, sequence)
  SELECT gen_random_uuid(), tenant, scope_id, kind, '', '', '', 'hub ' || n, 'Words.',
         language, sha256, 1, '{}', trust, writer, consent_source, consent_scope,
         'open', '', '[]', created_at, 1, 1000000 + n
    FROM prism_memory_record, generate_series(1, %(facts)s) AS n
   WHERE id = %(fact)s
  RETURNING id),
facts AS (
  INSERT INTO prism_memory_fact
         (id, tenant, record_id, scope_id, key, subject, folded_subject, predicate,
          value, provenance, principal, sensitivity, closing, closing_actor,
          closing_reason, folded_sha256)
  SELECT made.id, tenant, made.id, scope_id, made.id::text, subject, folded_subject,
         predicate, value, provenance, principal, sensitivity, '', '', '',
         folded_sha256
    FROM prism_memory_fact AS fact, made
   WHERE fact.id = %(fact)s
  RETURNING id)
INSERT INTO prism_memory_mention (tenant, fact_id, role, entity_id)
SELECT tenant, facts.id, role, entity_id
  FROM prism_memory_mention AS mention, facts
 WHERE mention.fact_id = %(fact)s
"""


@pytest.fixture
def hub() -> None:
    make_fresh()
    make_fact("Bob", "zebra", text="Bob rides a zebra.")
    other = make_fact("Bob", text="Bob is here.")
    with connection.cursor() as cursor:
        cursor.execute(FILL, {"facts": HUB, "fact": other})


def ask(**asked: Any) -> Any:
    return make_memory().recall("zebra", 10, **{"legs": "text", **asked})


@pytest.mark.usefixtures("hub")
def test_a_hub_is_cut_and_the_answer_says_so() -> None:
    """B398."""
    answer = ask(expand_hops=2)
    assert [hit.method for hit in answer] == ["text"] + ["entity"] * 9
    assert answer.bounded
    assert not ask().bounded


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("hidden", [False, True])
def test_of_a_hub_no_more_is_read_than_of_others(
    *, generic: bool, hidden: bool
) -> None:
    """B398: not even where nearly all of it is hidden."""
    if hidden:
        Record.objects.filter(tenant="acme", text="Words.").update(gate="quarantined")
    ask()
    with captured() as seen:
        ask(expand_hops=2, entity_match=True)
    hops = [one for one in seen.statements if "climbed" in one[0]]
    assert len(hops) == (2 if hidden else 3)
    for analyzed in (False, True):
        if analyzed:
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        for statement, given in hops:
            plan = explained(statement, given, generic=generic)
            assert most_rows(plan) <= 2 * LOOKS, json.dumps(plan, indent=1)


def explained(statement: str, given: dict[str, Any], *, generic: bool) -> Any:
    """Return what PostgreSQL did, by a plan for any values or for these."""
    used = [name for name in given if f"%({name})s" in statement]
    places = {name: f"${number}" for number, name in enumerate(used, start=1)}
    values = ", ".join(f"%({name})s" for name in used)
    mode = "force_generic_plan" if generic else "force_custom_plan"
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('plan_cache_mode', %s, true)", [mode])
        cursor.execute(f"PREPARE hop AS {statement % places}")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE hop ({values})", given)
        (plan,) = cursor.fetchone()
        cursor.execute("DEALLOCATE hop")
    return plan[0]["Plan"]


def most_rows(plan: Any) -> Any:
    """Return the most rows that one node gave or threw away, in all its loops."""
    lost = sum(
        plan.get(f"Rows Removed by {why}", 0) for why in ("Filter", "Join Filter")
    )
    own = (plan["Actual Rows"] + lost) * plan["Actual Loops"]
    return max([own, *(most_rows(part) for part in plan.get("Plans", ()))])
