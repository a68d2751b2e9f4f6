"""Plain SQL for tests, and the expectation that PostgreSQL refuses some of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction


def ask(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows, if it gives any."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return [] if cursor.description is None else [*cursor.fetchall()]


@contextmanager
def refused_by(constraint: str) -> Iterator[None]:
    """Expect that PostgreSQL refuses what the block does, by this very constraint."""
    with pytest.raises(IntegrityError) as raised, transaction.atomic():
        yield
    diagnosis = getattr(raised.value.__cause__, "diag", None)
    assert diagnosis is not None
    assert diagnosis.constraint_name == constraint
