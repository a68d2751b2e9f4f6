"""What hides a row does so before any limit: pages are full under every clause."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.db import connection

from prism_memory.models import Record
from prism_memory.types import Entry
from tests.factories import make_memory, make_record

pytestmark = pytest.mark.django_db

HIDE_NEARER = """
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
        sha256, uses, metadata, trust, writer, consent_source, consent_scope, visible,
        granted_at, gate, gate_reason, gate_markers, created_at, valid_to, version)
SELECT gen_random_uuid(), tenant, scope_id, kind, tier, 'hidden', partition,
       'hidden ' || n, text, language, sha256, uses, metadata, trust, writer,
       consent_source, consent_scope, visible, granted_at, gate, gate_reason,
       gate_markers, created_at, valid_to, version
  FROM prism_memory_record, generate_series(1, %s) AS n
 WHERE tenant = 'acme' AND key = 'nearest';
-- Else each foreign key is checked by a plan made for a table of a few rows.
ANALYZE prism_memory_record;
INSERT INTO prism_memory_embedding
       (tenant, space_id, record_id, scope_id, sha256, vector, attempts, error)
SELECT record.tenant, near.space_id, record.id, record.scope_id, near.sha256,
       near.vector, 0, ''
  FROM prism_memory_record AS record, prism_memory_embedding AS near
  JOIN prism_memory_record AS nearest
    ON nearest.tenant = near.tenant AND nearest.id = near.record_id
 WHERE record.tenant = 'acme' AND record.namespace = 'hidden'
   AND near.tenant = 'acme' AND nearest.key = 'nearest';
ANALYZE prism_memory_embedding;
"""

LONG_AGO = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
LATER = LONG_AGO + dt.timedelta(days=1)
TAGGED = {"n": 1, "tags": ["drinks"]}
FILTER = {"n": 1}
RANGE = {"n": {"lt": 2}}

HIDDEN: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("consent", {"visible": False}, {}),
    ("gate", {"gate": "quarantined"}, {"include_superseded": True}),
    ("validity", {"valid_to": LONG_AGO}, {"include_quarantined": True}),
    ("as_of", {"valid_to": LONG_AGO}, {"as_of": LATER}),
    ("known_at", {"created_at": LATER}, {"known_at": LONG_AGO}),
    ("tags", {"metadata": {"tags": ["food"]}}, {"tags": ["drinks"]}),
    ("equality", {"metadata": {"n": 2}}, {"filter": FILTER}),
    ("range", {"metadata": {"n": 2}}, {"filter": RANGE}),
]
"""A clause; columns of the rows that it hides; what the reader asks for."""


def hide_nearer(rows: int, **columns: Any) -> None:
    """Put rows into the way, nearer than any other, all with these columns."""
    make_record("tea", fields={"key": "nearest"}, wait=True, **columns)
    with connection.cursor() as cursor:
        cursor.execute(HIDE_NEARER, [rows])


def remember_five() -> set[Any]:
    """Remember five records that every clause lets through."""
    words = ("milk", "sugar", "lemon", "ice", "rum")
    entries = [Entry(f"tea and {word}", metadata=TAGGED) for word in words]
    ids = {*make_memory().remember(entries, wait=True).accepted}
    rows = Record.objects.filter(tenant="acme", id__in=ids)
    rows.update(created_at=LONG_AGO, granted_at=LONG_AGO)
    return ids


@pytest.mark.parametrize("legs", ["vector", "text", "hybrid"])
def test_a_page_is_full_with_10_000_invisible_nearer_rows_in_the_way(legs: str) -> None:
    """B13, B131: what hides a row does so before any limit."""
    wanted = remember_five()
    hide_nearer(10_000, visible=False)

    hits = make_memory().recall("tea", top_k=5, legs=legs)

    assert {hit.id for hit in hits} == wanted


@pytest.mark.parametrize("legs", ["vector", "text"])
@pytest.mark.parametrize(
    ("columns", "asked"),
    [pytest.param(*given, id=clause) for clause, *given in HIDDEN],
)
def test_a_page_is_full_whatever_hides_the_nearer_rows(
    legs: str, columns: dict[str, Any], asked: dict[str, Any]
) -> None:
    """B13, B375, B382: each leg asks by the same clauses, before its limit."""
    wanted = remember_five()
    hide_nearer(1_000, **columns)

    hits = make_memory().recall("tea", 5, legs=legs, **asked)

    assert {hit.id for hit in hits} == wanted
