"""One tenant with a great deal to embed does not keep the others waiting (B436)."""

from __future__ import annotations

from collections import deque
from importlib import import_module
from typing import Any

import pytest

from prism_memory import tasks
from prism_memory.models import Tenant
from prism_memory.tasks import draining, sweeping
from prism_memory.tasks.draining import wake_up
from prism_memory.tasks.sending import Message
from prism_memory.types import Scope
from tests.embedders import FaultyEmbedder
from tests.factories import make_scope, remember
from tests.swept import run

pytestmark = pytest.mark.django_db

BATCH, TURN = 2, 3
"""Texts of a batch, and batches of a turn."""


class Clock:
    """One that goes on by a second each time somebody looks."""

    now = 0.0

    @classmethod
    def monotonic(cls) -> float:
        cls.now += 1
        return cls.now


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Any) -> deque[Message]:
    """The one queue of the broker, first in, first out."""
    embedder = {"default": {"BACKEND": "tests.embedders.FaultyEmbedder"}}
    wish = {"EMBEDDERS": embedder, "EMBED_BATCH": BATCH, "WAKE": False}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish
    waiting: deque[Message] = deque()

    def keep(message: Message, *_args: object) -> None:
        waiting.append(message)

    monkeypatch.setattr(Message, "send", keep)
    monkeypatch.setattr(draining, "slice_seconds", lambda: TURN + 0.5)
    floor = import_module("prism_memory.indexing.drain")  # not the function
    monkeypatch.setattr(floor, "time", Clock)
    draining._turns.clear()
    return waiting


def fill(tenant: str, texts: int) -> None:
    remember(*(f"{tenant} {n}" for n in range(texts)), scope=Scope(tenant, "ada"))


def batches() -> list[str]:
    """Return whose each batch was, in order."""
    return [asked[0].partition(" ")[0] for asked in FaultyEmbedder.asked]


def work_off(sent: deque[Message]) -> None:
    FaultyEmbedder.asked.clear()
    while sent:
        run(sent.popleft())


def test_a_small_tenant_waits_for_one_turn_of_a_great_one(
    sent: deque[Message],
) -> None:
    """Each commit of the great one woke a worker before the small one wrote."""
    fill("great", 40)
    fill("small", 2)
    sent.extend(wake_up("great", "default", "default") for _ in range(50))
    sent.append(wake_up("small", "default", "default"))
    work_off(sent)
    order = batches()
    assert order.index("small") <= TURN
    assert (order.count("great"), order.count("small")) == (20, 1)


def test_who_writes_after_the_last_turn_is_heard(sent: deque[Message]) -> None:
    """A wake-up is old only where a turn began after it."""
    old = wake_up("acme", "default", "default")
    for words in ("one", "two"):
        remember(words, scope=Scope("acme", "ada"))
        FaultyEmbedder.asked.clear()
        run(wake_up("acme", "default", "default"))
        assert FaultyEmbedder.asked == [[words]]
    remember("three", scope=Scope("acme", "ada"))
    FaultyEmbedder.asked.clear()
    run(old)
    assert FaultyEmbedder.asked == []


def test_the_circle_of_a_sweep_goes_once_round_in_pieces(
    sent: deque[Message], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t{n}" for n in range(7)]
    for name in names:
        make_scope(tenant=name)
        Tenant.objects.get_or_create(name=name)
    seen: list[str] = []

    def note(tenant: str) -> tuple[Message, ...]:
        seen.append(tenant)
        return ()

    def look(_using: str) -> Any:
        return note

    monkeypatch.setitem(sweeping.SWEEPS, "drains", sweeping.Sweep(look))
    monkeypatch.setattr(sweeping, "TENANTS", 2)
    starts = set()
    for _ in range(12):
        seen.clear()
        tasks.sweep.apply(kwargs={"work": "drains"}, throw=True)
        pieces = 1
        while sent:
            run(sent.popleft())
            pieces += 1
        assert sorted(seen) == names
        assert pieces == 4
        starts.add(seen[0])
    assert len(starts) > 1
