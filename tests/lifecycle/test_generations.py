"""Generations: a pointer per scope, swapped and rolled back."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from prism_memory import lifecycle
from prism_memory.errors import LimitExceeded
from prism_memory.models import AuditEvent
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import MAX_GENERATION, Actor, Generations, Scope
from tests.factories import NOON, make_memory, make_record, make_scope
from tests.sight import seen
from tests.tries import examples

pytestmark = pytest.mark.django_db

HERE = make_scope()


def swap(generation: Any, scope: Scope = HERE) -> int | None:
    return lifecycle.set_current_generation(
        using="default",
        scope=scope,
        actor=Actor("ann"),
        at=NOON,
        generation=generation,
        reason="new texts",
    )


def test_generated_rows_are_seen_only_at_the_current_generation() -> None:
    """B209."""
    plain, old, new = (
        make_record(f"tea {g}", generation=g, fields={"key": str(g)})
        for g in (None, 1, 2)
    )
    assert [seen(one) for one in (plain, old, new)] == [True, True, True]
    swap(1)
    assert [seen(one) for one in (plain, old, new)] == [True, True, False]
    memory = make_memory()
    assert {hit.text for hit in memory.recall("tea")} == {"tea None", "tea 1"}
    swap(2)
    assert {hit.text for hit in memory.recall("tea")} == {"tea None", "tea 2"}


def test_a_swap_tells_what_was_before_and_rolls_back() -> None:
    """B210: audited, once for each change."""
    memory = make_memory(actor=Actor("ann"))
    assert memory.set_current_generation(3, reason="new texts") is None
    assert memory.set_current_generation(4) == 3
    assert memory.set_current_generation(4) == 4
    assert memory.set_current_generation(3) == 4
    assert memory.set_current_generation(None) == 3
    events = AuditEvent.objects.filter(action="scope.set_generation").order_by("id")
    steps = [(event.detail["from"], event.detail["to"]) for event in events]
    assert steps == [(None, 3), (3, 4), (4, 3), (3, None)]
    first = events[0]
    assert (first.actor, first.reason, first.target) == (
        "ann",
        "new texts",
        f"scope:{HERE.id}",
    )


@pytest.mark.parametrize("wrong", [-1, 1.0, "1", True, MAX_GENERATION + 1])
def test_what_is_no_generation_is_refused(wrong: Any) -> None:
    """B210."""
    with pytest.raises(LimitExceeded) as error:
        swap(wrong)
    assert error.value.field == "generation"
    assert not ScopeRow.objects.filter(tenant="acme").exists()


def test_a_swap_is_undone_with_its_transaction() -> None:
    """B210: atomic with what else the host does."""
    swap(1)
    with transaction.atomic():
        swap(2)
        transaction.set_rollback(True)
    assert make_memory().generations().current == 1
    assert AuditEvent.objects.filter(action="scope.set_generation").count() == 1


def test_only_exactly_the_scope_is_swapped() -> None:
    """B209: a pointer per scope; strangers' rows are neither swapped nor counted."""
    strangers = [
        make_scope(tenant="globex"),
        make_scope(owner="bob"),
        make_scope(agent="sales"),
        make_scope(thread="chat-2"),
        Scope("acme", owner="ada"),
    ]
    rows = [make_record("tea", scope=scope, generation=1) for scope in strangers]
    make_record("mine", generation=7)
    swap(2)
    for scope, row in zip(strangers, rows, strict=True):
        assert seen(row, scope)
        assert make_memory(scope).generations() == Generations(None, {1: 1})
    assert make_memory().generations() == Generations(2, {7: 1})


@given(
    steps=st.lists(st.none() | st.integers(0, 3), max_size=6),
    rows=st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=5),
)
@settings(max_examples=examples(12))
def test_sight_follows_the_pointer(
    steps: list[int | None], rows: list[int | None]
) -> None:
    """B209, B210, against a naive model."""
    with transaction.atomic():
        made = [
            make_record("tea", generation=g, fields={"key": f"k{place}"})
            for place, g in enumerate(rows)
        ]
        current: int | None = None
        for step in steps:
            assert swap(step) == current
            current = step
            shown = [g is None or current in (None, g) for g in rows]
            assert [seen(one) for one in made] == shown
        counted = {g: rows.count(g) for g in sorted({g for g in rows if g is not None})}
        assert make_memory().generations() == Generations(current, counted)
        transaction.set_rollback(True)
