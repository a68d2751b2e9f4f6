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
from tests.recall.worded import count_of

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


TIMES_ENOUGH = 20
"""PostgreSQL thinks of changing to a generic plan after five."""


def ask_everything(
    owner: str, question: str = QUESTION
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the statements of each recall by all legs, and how the plans were."""
    memory = Memory(Scope(TENANT, owner))
    asked = ["vector", "text", "recency"]
    counts = [
        count_of(lambda: memory.recall(question, legs=asked))
        for _ in range(TIMES_ENOUGH)
    ]
    return counts, prepared()


@pytest.mark.parametrize("rows", [10_000, 0], ids=["exact", "index"])
def test_a_prepared_recall_is_one_statement_of_one_plan(rows: int) -> None:
    """B128: planned once and never again, though PostgreSQL is left to decide."""
    with changed(EXACT_SCAN_ROWS=rows, HNSW_MAX_SCAN_TUPLES=200_000):
        counts, plans = on_a_preparing_connection(
            lambda: ask_everything("d"), plans="auto"
        )

    # What is learnt of the place costs one more, once.
    assert counts[0] <= 2
    assert counts[1:] == [1] * (TIMES_ENOUGH - 1)
    assert sum(custom for _, custom in plans) == 0
    assert sum(generic for generic, _ in plans) >= TIMES_ENOUGH - 2


def test_the_connections_own_choice_of_plans_is_put_back() -> None:
    def work() -> str:
        Memory(Scope(TENANT, "d")).recall(QUESTION)
        with connections["default"].cursor() as cursor:
            cursor.execute("SHOW plan_cache_mode")
            return str(cursor.fetchone()[0])

    assert (
        on_a_preparing_connection(work, plans="force_custom_plan")
        == "force_custom_plan"
    )


@pytest.mark.parametrize("legs", ["hybrid", "text", "vector"])
def test_prepared_or_not_the_answer_is_the_same(legs: str) -> None:
    """Of common words, which are estimated, too; in a scope of 4,000 of 20,000."""

    def work() -> list[Recalled]:
        memory = Memory(Scope(TENANT, "d"))
        return [memory.recall("filler 77", 32, legs=legs) for _ in range(3)]

    plain = work()[-1]
    for found in on_a_preparing_connection(work, plans="auto"):
        assert [hit.id for hit in found] == [hit.id for hit in plain]
        assert [hit.score for hit in found] == pytest.approx(
            [hit.score for hit in plain]
        )
