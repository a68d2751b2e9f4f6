"""Recall on a connection that prepares its statements: C05, as drivers do by habit.

Django leaves that off, a host may turn it on, and after a few calls PostgreSQL may
change to a plan that serves any values.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from django.db import connections

from prism_memory import Memory, Scope, backends
from prism_memory.types import Recalled
from tests.recall.test_strategies import (
    QUESTION,
    SHARES,
    TENANT,
    TIMES,
    changed,
    exact_neighbours,
    index,
    table,
)

__all__ = ["index", "table"]  # the fixtures

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("index")]

T = TypeVar("T")
PLANS = ["auto", "force_generic_plan"]


def on_a_preparing_connection(work: Callable[[], T], *, plans: str) -> T:
    """Call ``work`` in a thread, whose connection prepares what it runs twice.

    Args:
        plans: The connection's ``plan_cache_mode``.
    """

    def run() -> T:
        own = connections["default"]
        options = own.settings_dict["OPTIONS"]
        more = {"server_side_binding": True, "prepare_threshold": 1}
        own.settings_dict = {**own.settings_dict, "OPTIONS": {**options, **more}}
        try:
            with own.cursor() as cursor:
                cursor.execute(f"SET plan_cache_mode = {plans}")
            return work()
        finally:
            own.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


def prepared() -> list[tuple[int, int]]:
    """Return how often each prepared recall ran by a generic plan, and by its own."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans, custom_plans FROM pg_prepared_statements"
            " WHERE statement LIKE '%<=>%'"
        )
        return [*cursor.fetchall()]


def ask(owner: str, top_k: int) -> tuple[list[Recalled], list[tuple[int, int]]]:
    memory = Memory(Scope(TENANT, owner))
    found = [memory.recall(QUESTION, top_k, legs="vector") for _ in range(TIMES)]
    return found, prepared()


def check(owner: str, top_k: int, strategy: str, plans: str) -> None:
    found, counted = on_a_preparing_connection(lambda: ask(owner, top_k), plans=plans)
    assert sum(map(sum, counted)) >= TIMES - 2, "it was prepared"
    if plans != "auto":
        assert sum(generic for generic, _ in counted) >= TIMES - 2
    vector = backends.embed(backends.get_embedder(), [QUESTION], role="query")[0]
    oracle = exact_neighbours(Scope(TENANT, owner), vector, top_k)
    for recalled in found:
        assert len(recalled) == min(top_k, SHARES[owner])
        assert recalled.strategy == strategy
        assert len(oracle & {str(hit.id) for hit in recalled}) >= 0.99 * top_k


@pytest.mark.parametrize("plans", PLANS)
@pytest.mark.parametrize("top_k", [20, 32])
@pytest.mark.parametrize("owner", SHARES)
def test_case_c05_a_prepared_exact_scan_gives_all_rows(
    owner: str, top_k: int, plans: str
) -> None:
    """C05: asked 12 times on one connection."""
    check(owner, top_k, "exact", plans)


@pytest.mark.parametrize("plans", PLANS)
@pytest.mark.parametrize("owner", ["b", "c", "d"])
def test_case_c05_a_prepared_scan_of_the_index_gives_all_rows(
    owner: str, plans: str
) -> None:
    """C05: forced into the index; whichever way the planner then chooses."""
    with changed(EXACT_SCAN_ROWS=0, HNSW_MAX_SCAN_TUPLES=200_000):
        check(owner, 32, "index", plans)
