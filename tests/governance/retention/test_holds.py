"""Holds, as the verbs place them, keep from every path of retention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.models import Record
from prism_memory.types import Retained, Scope, SourceRef
from tests.factories import make_memory, make_scope
from tests.governance.retention.written import ACTOR, ids, make_policy, old, run

pytestmark = pytest.mark.django_db


def hold(scope: Scope, **what: Any) -> Callable[[], None]:
    """Place one; return what ends it."""
    given: dict[str, Any] = {"using": "default", "actor": ACTOR, "at": timezone.now()}
    held = lifecycle.hold(scope=scope, **given, **what)

    def end() -> None:
        lifecycle.release(scope=scope, **given, hold_id=held.id)

    return end


def on(level: str) -> Callable[[], None]:
    record = Record.objects.get(tenant="acme")
    places: dict[str, tuple[Scope, dict[str, Any]]] = {
        "record": (make_scope(), {"record_id": record.id}),
        "source": (make_scope(), {"source": record.source_id}),
        "thread": (make_scope(), {}),
        "agent": (make_scope(thread=""), {}),
        "owner": (Scope("acme", owner="ada"), {}),
        "tenant": (Scope("acme"), {}),
    }
    scope, what = places[level]
    return hold(scope, **what)


LEVELS = ("record", "source", "thread", "agent", "owner", "tenant")


@pytest.mark.parametrize("level", LEVELS)
def test_a_hold_keeps_until_it_is_released(level: str) -> None:
    """B154, B189."""
    record_id = old(30, source=SourceRef("chat"))
    policy = make_policy(max_age_days=7, max_entries=0)
    release = on(level)
    for _ in range(2):
        assert run(policy).counts == {"deleted": 0, "kept": 1, "scopes": 1}
        done = make_memory().apply_retention(max_age_days=7, max_entries=0)
        assert done == Retained(0, 1, 1)
        assert ids() == {record_id}
    release()
    assert run(policy).counts["deleted"] == 1


def test_a_forgetting_that_holds_keeps_and_hides() -> None:
    """B152, B154."""
    record_id = old(30)
    lifecycle.forget(
        using="default",
        scope=make_scope(),
        actor=ACTOR,
        ids=[record_id],
        at=timezone.now(),
        hold=True,
    )
    assert run(make_policy(max_age_days=7)).counts["kept"] == 1
    assert make_memory().apply_retention(max_entries=0).kept == 1
    assert ids() == {record_id}
    assert not make_memory().list().items


def test_a_hold_beside_keeps_nothing_here() -> None:
    for scope in (make_scope(thread="chat-2"), Scope("acme", owner="bob")):
        hold(scope)
    old(30)
    assert make_memory().apply_retention(max_age_days=7).deleted == 1
