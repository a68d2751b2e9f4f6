"""How long a recall may take, by a clock that the tests move."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from prism_memory.errors import Aborted, DeadlineExceeded
from prism_memory.recall import clock
from prism_memory.recall.clock import Clock


class Hands:
    """The time, in seconds."""

    def __init__(self) -> None:
        self.now = 100.0

    def read(self) -> float:
        return self.now


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> Hands:
    hands = Hands()
    fake = SimpleNamespace(monotonic=hands.read, perf_counter=hands.read)
    monkeypatch.setattr(clock, "time", fake)
    return hands


def test_without_a_deadline_there_is_always_time(hands: Hands) -> None:
    began = Clock()
    hands.now += 1e9

    assert began.left() is None


def test_the_time_runs_from_the_beginning_of_the_call(hands: Hands) -> None:
    began = Clock(deadline_seconds=3)
    hands.now += 1

    assert began.left() == 2
    with began.step("embed") as left:
        assert left == 2


@pytest.mark.parametrize("spent", [3, 4])
def test_no_step_begins_after_the_deadline(hands: Hands, spent: float) -> None:
    """B132."""
    began = Clock(deadline_seconds=3)
    hands.now += spent

    with pytest.raises(DeadlineExceeded), began.step("embed"):
        pytest.fail("it began")


def test_no_step_begins_for_a_caller_who_left(hands: Hands) -> None:
    """B132, and before any deadline is looked at."""
    began = Clock(deadline_seconds=3, cancelled=lambda: hands.now > 100)
    with began.step("embed"):
        hands.now += 9

    with pytest.raises(Aborted) as raised, began.step("rank"):
        pytest.fail("it began")
    assert type(raised.value) is Aborted


def test_a_step_is_told_in_milliseconds_and_its_repeats_are_added(
    hands: Hands,
) -> None:
    began = Clock()
    for seconds in (1, 0.5):
        with began.step("candidates"):
            hands.now += seconds

    assert began.timings == {"candidates": pytest.approx(1500)}


def test_a_step_that_fails_is_told_too(hands: Hands) -> None:
    began = Clock()

    def fail() -> None:
        with began.step("embed"):
            hands.now += 1
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert began.timings == {"embed": pytest.approx(1000)}
