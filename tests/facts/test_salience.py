"""How much a fact still matters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid
from prism_memory.facts.salience import (
    WEIGHTS,
    Standing,
    check_weights,
    retention,
    salience,
)

FRESH = Standing(0)


def test_it_fades_with_time_and_slower_when_it_is_strong() -> None:
    """B424."""
    assert retention(FRESH, tau_days=7) == 1
    assert retention(Standing(7), tau_days=7) == pytest.approx(math.exp(-1))
    assert retention(Standing(7, strength=2), tau_days=7) == pytest.approx(
        math.exp(-0.5)
    )
    assert retention(Standing(7, strength=0), tau_days=7) == pytest.approx(math.exp(-2))
    assert retention(Standing(-3), tau_days=7) == 1
    assert retention(Standing(0.2), tau_days=0) == pytest.approx(math.exp(-2))


@pytest.mark.parametrize(
    ("standing", "weights", "expected"),
    [
        (FRESH, {}, 1),
        (Standing(0, importance=0.5), {}, 1),
        (Standing(0, importance=1), {}, 1.3),
        (Standing(0, importance=0), {}, 0.7),
        (Standing(0, importance=0), {"importance": 3}, 0),
        (Standing(0, quarantined=True), {}, 0.3),
        (Standing(0, quarantined=True, foreign=True), {}, 0.3),
        (Standing(0, foreign=True), {}, 0.8),
        (Standing(0, foreign=True), {"foreign": 2}, 0),
        (Standing(0, recalls=32), {}, 1),
        (Standing(0, recalls=32), {"reinforcement": 0.5}, 1.5),
        (Standing(0, recalls=9_999), {"reinforcement": 0.5}, 1.5),
    ],
    ids=str,
)
def test_weights_raise_and_lower_it(
    standing: Standing, weights: dict[str, float], expected: float
) -> None:
    """B425, B426: reinforcement is off, and saturates at 32 recalls."""
    found = salience(standing, tau_days=7, weights=weights)
    assert found == pytest.approx(expected)


@given(
    st.floats(-10, 1e6),
    st.floats(0, 2),
    st.integers(0, 10**6),
    st.none() | st.floats(0, 1),
    st.booleans(),
    st.dictionaries(st.sampled_from([*WEIGHTS]), st.floats(0, 10)),
)
def test_it_is_never_negative(
    days: float,
    strength: float,
    recalls: int,
    importance: float | None,
    foreign: bool,
    weights: dict[str, float],
) -> None:
    """B425."""
    standing = Standing(days, strength, recalls, importance, foreign=foreign)
    assert salience(standing, tau_days=7, weights=weights) >= 0


@pytest.mark.parametrize(
    "wrong", [{"size": 1}, {"foreign": -1}, {"foreign": 11}, {"foreign": float("nan")}]
)
def test_a_weight_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(Invalid):
        check_weights(wrong)
