"""Run calls at the same moment, each in a thread with a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def together(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return what each call returned, in order; the first error is raised."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            barrier.wait(timeout=60)
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(run, c) for c in calls]]


def wait_for_a_row() -> None:
    """Return when another connection waits for a row, or never will."""
    with connection.cursor() as cursor:
        for _ in range(1_000):
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.01), pg_stat_clear_snapshot()")
