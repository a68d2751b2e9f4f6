"""Scopes full of words, for tests of the text leg."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from prism_memory.models import Record
from prism_memory.recall.candidates import statement
from prism_memory.types import Recalled, Scope
from tests.capture import captured
from tests.db.asking import ask
from tests.factories import make_scope
from tests.recall.bulk import KNOWN, fill, seed

HERE = make_scope()

STRANGERS = [
    make_scope(tenant="globex"),
    make_scope(owner="bob"),
    make_scope(owner="ADA"),
    make_scope(owner="ada "),
    make_scope(agent="sales"),
    make_scope(thread="chat-2"),
]


MIX = """
UPDATE prism_memory_record AS record SET sequence = mixed.sequence
  FROM (SELECT id, row_number() OVER (ORDER BY md5(text)) AS sequence
          FROM prism_memory_record WHERE tenant = %s AND scope_id = %s) AS mixed
 WHERE record.id = mixed.id
"""
"""The newest are then of all texts, as in a scope where nobody speaks in blocks."""


@contextmanager
def common_beyond(rows: int) -> Iterator[None]:
    """Call a word common from so many rows on; it is a literal of the statement."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statement, "TERM_ROWS", rows)
        statement._composed.cache_clear()
        try:
            yield
        finally:
            statement._composed.cache_clear()


def say(counts: dict[str, int], scope: Scope = HERE, **columns: Any) -> None:
    """Put so many records of each text into a scope, each with a number of its own.

    Args:
        columns: Of all these rows.
    """
    seed(scope)
    for text, rows in counts.items():
        fill(scope, rows, text=text)
        if columns:
            written = Record.objects.filter(
                tenant=scope.tenant, scope=scope.id, text__regex=f"^{text} [0-9]+$"
            )
            assert written.update(**columns) == rows
    ask(MIX, scope.tenant, scope.id)
    ask(KNOWN)


def recall_statements(statements: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return those that ask the legs."""
    return [one for one in statements if "ranked AS MATERIALIZED" in one[0]]


def explained(statement: str, given: Any) -> str:
    """Return the plan of a statement, as it ran."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF) {statement}", given)
        return "\n".join(line for (line,) in cursor.fetchall())


def count_of(call: Callable[[], object]) -> int:
    """Return how many statements a call asks the legs by."""
    with captured() as seen:
        call()
    return len(recall_statements(seen.statements))


def recall_plan(call: Callable[[], object]) -> str:
    """Return the plan of the last statement by which a call asks the legs."""
    with captured() as seen:
        call()
    return explained(*recall_statements(seen.statements)[-1])


def texts(found: Recalled) -> list[str]:
    return [hit.text for hit in found]
