"""What tests with real commits leave in the tables that all tests share."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.db import connection


def see_nothing_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an examination see neither old indexes nor the dead rows of others."""
    module = import_module("prism_memory.indexing.examine")
    for name in ("CHANGED_ROWS", "DEAD_ROWS"):
        monkeypatch.setattr(module, name, 10**9)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes"
            " WHERE indexname LIKE 'prism_memory_hnsw_%'"
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f'DROP INDEX "{name}"')
