"""A recall that nobody wants any more is given up between its steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from prism_memory import backends
from prism_memory.errors import Aborted, DeadlineExceeded
from tests.embedders import SlowEmbedder
from tests.factories import make_memory, remember
from tests.recall.worded import count_of, texts

pytestmark = pytest.mark.django_db


def cancelled_at(call: int) -> tuple[Callable[[], bool], list[int]]:
    """Return what says so from some call on, and where its calls are noted."""
    calls: list[int] = []

    def cancelled() -> bool:
        calls.append(len(calls) + 1)
        return len(calls) >= call

    return cancelled, calls


def test_a_recall_that_is_not_cancelled_is_answered() -> None:
    remember("tea", wait=True)
    cancelled, calls = cancelled_at(99)

    found = make_memory().recall("tea", cancelled=cancelled)

    assert texts(found) == ["tea"]
    assert len(calls) >= 3


@pytest.mark.parametrize(("step", "asked"), [(1, 0), (2, 0), (3, 1)])
def test_a_cancelled_recall_stops_before_the_next_step(step: int, asked: int) -> None:
    """B112, B132: embed, candidates, rank; it is no deadline that passed."""
    remember("tea", wait=True)
    cancelled, calls = cancelled_at(step)

    def stopped() -> None:
        with pytest.raises(Aborted) as caught:
            make_memory().recall("tea", cancelled=cancelled)
        assert not isinstance(caught.value, DeadlineExceeded)

    assert count_of(stopped) == asked
    assert len(calls) == step


def test_a_cancelled_recall_calls_no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    remember("tea", wait=True)
    embedder = SlowEmbedder()
    monkeypatch.setattr(backends, "get_embedder", lambda _: embedder)

    with pytest.raises(Aborted):
        make_memory().recall("tea", cancelled=lambda: True)

    assert embedder.given == []


def test_what_cancelled_itself_raises_is_the_callers() -> None:
    class Own(Exception):
        """Of the caller."""

    def broken() -> bool:
        raise Own

    with pytest.raises(Own):
        make_memory().recall("tea", cancelled=broken)
