"""Recalling strengthens, exactly and within bounds."""

from __future__ import annotations

import datetime as dt
import uuid
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from django.db import connection

from prism_memory import lifecycle
from prism_memory.models import Record, ReinforcedQuery, Reinforcement
from prism_memory.types import uuid7
from tests.capture import tenant_in_every_statement
from tests.db.asking import ask
from tests.factories import NOON, make_scope, remember, remember_one
from tests.together import together

pytestmark = pytest.mark.django_db


MODULE = import_module("prism_memory.lifecycle.reinforce")
"""The verb has its name in the package."""


def strengthen(*ids: uuid.UUID, query: int = 0, **given: Any) -> tuple[uuid.UUID, ...]:
    defaults: dict[str, Any] = {"using": "default", "tenant": "acme", "at": NOON}
    own = {"ids": ids, "query_sha256": query.to_bytes(32, "big")}
    return lifecycle.reinforce(**{**defaults, **own, **given})


def row(record_id: uuid.UUID, tenant: str = "acme") -> Reinforcement:
    return Reinforcement.objects.get(tenant=tenant, record_id=record_id)


def queries(record_id: uuid.UUID) -> int:
    rows = ReinforcedQuery.objects.filter(tenant="acme", record_id=record_id)
    return rows.count()


def test_each_recall_adds_a_tenth_of_strength_and_one_to_the_count() -> None:
    """B430."""
    record_id = remember_one()
    assert strengthen(record_id) == (record_id,)
    assert row(record_id).strength == pytest.approx(1.1)
    strengthen(record_id)
    assert row(record_id).strength == pytest.approx(1.2)
    assert row(record_id).recalls == 2


def test_strength_ends_at_two_and_the_count_goes_on() -> None:
    """B430."""
    record_id = remember_one()
    for _ in range(12):
        strengthen(record_id)
    assert (row(record_id).strength, row(record_id).recalls) == (2.0, 12)


def test_a_question_is_noted_once_for_each_record() -> None:
    """B430."""
    first, second = remember("Tea.", "Coffee.")
    strengthen(first, query=1)
    strengthen(first, second, query=1)
    strengthen(first, query=2)
    assert (queries(first), queries(second)) == (2, 1)
    assert row(first).recalls == 3


def test_after_so_many_questions_no_more_are_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(MODULE, "QUERIES_AT_MOST", 3)
    record_id = remember_one()
    for query in range(5):
        strengthen(record_id, query=query)
    assert (queries(record_id), row(record_id).recalls) == (3, 5)


def test_an_older_message_does_not_turn_the_time_back() -> None:
    record_id = remember_one()
    strengthen(record_id)
    strengthen(record_id, at=NOON - dt.timedelta(days=1))
    assert row(record_id).last_recalled_at == NOON


def test_one_hit_twice_counts_once() -> None:
    record_id = remember_one()
    strengthen(record_id, record_id)
    assert row(record_id).recalls == 1


def test_what_is_not_there_is_passed_over() -> None:
    record_id = remember_one()
    assert strengthen(uuid7(), record_id) == (record_id,)
    assert strengthen(uuid7()) == ()
    assert strengthen() == ()
    assert Reinforcement.objects.count() == 1


def test_another_tenants_record_is_not_strengthened() -> None:
    """B8, B22."""
    mine, theirs = remember_one(), remember_one(scope=make_scope(tenant="globex"))
    with tenant_in_every_statement("acme") as seen:
        assert strengthen(mine, theirs) == (mine,)
    assert len(seen.on_tenants()) == 2
    assert not Reinforcement.objects.filter(tenant="globex").exists()
    assert not ReinforcedQuery.objects.filter(tenant="globex").exists()


def test_what_was_counted_goes_with_the_record() -> None:
    kept, gone = remember("Tea.", "Coffee.")
    strengthen(kept, gone)
    ask("DELETE FROM prism_memory_embedding WHERE record_id = %s", gone)
    ask("DELETE FROM prism_memory_record WHERE id = %s", gone)
    assert [r.record_id for r in Reinforcement.objects.all()] == [kept]
    assert [r.record_id for r in ReinforcedQuery.objects.all()] == [kept]


def test_the_record_itself_is_not_touched() -> None:
    """B80: uses, times and versions stay."""
    record_id = remember_one()
    before = Record.objects.filter(id=record_id).values().get()
    strengthen(record_id)
    assert Record.objects.filter(id=record_id).values().get() == before


class TestAtOneTime:
    pytestmark = pytest.mark.django_db(transaction=True)

    def test_so_many_calls_count_exactly_so_many(self) -> None:
        """B430, as B79 has it for tiers."""
        ids = remember("Tea.", "Coffee.", "Milk.")
        calls = [
            partial(strengthen, *(ids if n % 2 else reversed(ids)), query=n % 4)
            for n in range(8)
        ]
        together(calls)
        for record_id in ids:
            assert row(record_id).recalls == 8
            assert row(record_id).strength == pytest.approx(1.8)
            assert queries(record_id) == 4

    def test_the_bound_of_questions_holds_under_a_race(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(MODULE, "QUERIES_AT_MOST", 3)
        record_id = remember_one()
        together([partial(strengthen, record_id, query=n) for n in range(8)])
        assert (queries(record_id), row(record_id).recalls) == (3, 8)

    def test_a_record_that_is_being_deleted_is_passed_over(self) -> None:
        kept, gone = remember("Tea.", "Coffee.")

        def delete() -> None:
            with connection.cursor() as cursor:
                cursor.execute(
                    "DELETE FROM prism_memory_embedding WHERE record_id = %s", [gone]
                )
                cursor.execute("DELETE FROM prism_memory_record WHERE id = %s", [gone])

        together(
            [delete, *[partial(strengthen, kept, gone, query=n) for n in range(5)]]
        )
        assert row(kept).recalls == 5
        assert [r.record_id for r in Reinforcement.objects.all()] == [kept]
