"""Tombstones are looked up by target, also by a planner that never saw the table."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from prism_memory.access import Reader, held, visible
from prism_memory.db.queries import composed
from tests.factories import remember_one
from tests.governance.erasing import CHAT
from tests.tables import make_fresh

pytestmark = pytest.mark.django_db

OTHERS = ("prism_memory_tombstone_root", "prism_memory_tombstone_scope")


@pytest.fixture(autouse=True)
def _never_seen(db: None) -> None:
    make_fresh()  # whatever tests before made the planner know


def plan(sql: str, given: Any) -> str:
    """Return the plan where a table is not small enough to be read whole."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {sql}", given)
        return "\n".join(row[0] for row in cursor.fetchall())


def test_of_a_hold_on_a_record() -> None:
    """An erasure fills the table; a look by tenant alone would read all of it."""
    remember_one(scope=CHAT)
    found = plan(
        composed("erasure", "reached", held=held()), {"tenant": "acme", "refs": []}
    )
    assert "prism_memory_tombstone_unique" in found
    assert not [name for name in OTHERS if name in found]


def test_of_what_may_be_seen() -> None:
    """B166."""
    remember_one(scope=CHAT)
    rows = visible(using="default", reader=Reader(scope=CHAT))
    sql, given = rows.query.sql_with_params()
    found = plan(sql, given)
    assert "prism_memory_tombstone_unique" in found
    assert not [name for name in OTHERS if name in found]
