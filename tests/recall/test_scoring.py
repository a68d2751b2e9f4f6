from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Invalid
from prism_memory.recall.scoring import (
    DAY_SECONDS,
    QUARANTINED,
    TRUST_FACTORS,
    check_factors,
    composite,
    decay,
    importance,
    recency,
    trust_factor,
)
from prism_memory.types import Scoring, Trust

unit = st.floats(0, 1)
no_numbers: list[Any] = [True, "0.5", math.nan, math.inf, -math.inf, 10**400, [1]]


def scored(recency_weight: float = 0.0, importance_weight: float = 0.0) -> Scoring:
    return Scoring(recency_weight, importance_weight, half_life_ms=1_000)


# The parts: B123, B124.


@pytest.mark.parametrize(
    ("age", "half_life", "expected"),
    [
        (0, 10, 1),
        (10, 10, 1 / 2),
        (20, 10, 1 / 4),
        (5, 10, math.sqrt(1 / 2)),
        (-3, 10, 1),
        (None, 10, 1),
        (math.nan, 10, 1),
        (99, None, 1),
        (1e308, 1e-308, 0),
        (math.inf, 10, 0),
    ],
)
def test_recency_halves_with_each_half_life(
    age: float | None, half_life: float | None, expected: float
) -> None:
    """B123."""
    assert recency(age, half_life) == pytest.approx(expected)


@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0.1, 1e9))
def test_what_is_older_is_not_more_recent(
    one: float, other: float, half_life: float
) -> None:
    """B123."""
    newer, older = sorted((one, other))
    assert 0 <= recency(older, half_life) <= recency(newer, half_life) <= 1


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "1"])
def test_recency_is_of_no_other_half_life(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        recency(1, bad)
    assert raised.value.field == "half_life_seconds"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, 1),
        (math.nan, 1),
        (math.inf, 1),
        (-math.inf, 1),
        (0, 0),
        (0.4, 0.4),
        (1, 1),
        (-0.2, 0),
        (7, 1),
    ],
)
def test_importance_is_clamped_and_absent_it_is_1(
    value: float | None, expected: float
) -> None:
    """B101, B124."""
    assert importance(value) == expected


# The composite: B120, B121.


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ((0.0, 0.0), 0.8),
        ((0.25, 0.25), 0.5 * 0.8 + 0.25 * 0.4 + 0.25 * 0.2),
        ((0.5, 0.0), 0.5 * 0.8 + 0.5 * 0.4),
        ((0.0, 1.0), 0.2),
        ((0.5, 0.5), 0.5 * 0.4 + 0.5 * 0.2),
        ((1.0, 1.0), 0.5 * 0.4 + 0.5 * 0.2),
        ((0.5, 1.0), 0.4 / 3 + 0.2 * 2 / 3),
    ],
)
def test_similarity_has_what_the_weights_leave(
    weights: tuple[float, float], expected: float
) -> None:
    """B120, B121: over 1 in sum, they are divided by it and similarity has none."""
    assert composite(0.8, 0.4, 0.2, scored(*weights)) == pytest.approx(expected)


@given(unit, unit, unit, unit, unit)
def test_a_composite_lies_between_its_parts(
    similarity: float, recent: float, important: float, r: float, i: float
) -> None:
    """B62, B120, B121."""
    score = composite(similarity, recent, important, scored(r, i))
    parts = (similarity, recent, important)

    assert 0 <= score <= 1
    assert min(parts) - 1e-12 <= score <= max(parts) + 1e-12
    assert composite(1, 1, 1, scored(r, i)) == pytest.approx(1)


def test_shares_that_round_up_do_not_lift_a_score_over_1() -> None:
    """B62: these two add up to 1.0000000000000002."""
    assert composite(1, 1, 1, scored(0.5062666104520314, 0.601840300474215)) == 1


@given(unit, unit, unit, unit)
def test_over_1_in_sum_similarity_says_nothing(
    one: float, other: float, recent: float, important: float
) -> None:
    """B121."""
    scoring = scored(0.75, 0.5)
    assert composite(one, recent, important, scoring) == composite(
        other, recent, important, scoring
    )


# Trust: B371.


@pytest.mark.parametrize(
    ("trust", "factor"),
    [
        ("user", 1),
        ("system", 1),
        ("document", 0.8),
        ("tool", 0.8),
        ("agent", 0.8),
        ("subagent", 0.8),
        ("consolidator", 0.8),
    ],
)
def test_what_others_say_counts_less_and_quarantine_wins(
    trust: str, factor: float
) -> None:
    """B371."""
    assert trust_factor(trust, gated=False) == factor
    assert trust_factor(trust, gated=True) == 0.3


def test_every_trust_class_has_a_factor() -> None:
    assert {*TRUST_FACTORS} == {*Trust, QUARANTINED}
    check_factors(TRUST_FACTORS)


def test_factors_can_be_set_one_by_one() -> None:
    """B371."""
    factors = {"tool": 0.5, "quarantined": 0}
    assert trust_factor(Trust.TOOL, gated=False, factors=factors) == 0.5
    assert trust_factor(Trust.TOOL, gated=True, factors=factors) == 0
    assert trust_factor(Trust.AGENT, gated=False, factors=factors) == 0.8
    check_factors(factors)


@pytest.mark.parametrize("trust", ["quarantined", "", "admin", None])
def test_another_trust_class_is_refused(trust: Any) -> None:
    with pytest.raises(Invalid) as raised:
        trust_factor(trust, gated=False)
    assert raised.value.field == "trust"


@pytest.mark.parametrize("bad", [*no_numbers, None, -0.1, 1.1])
def test_a_factor_is_finite_and_from_0_to_1(bad: Any) -> None:
    """B371: none can raise a score."""
    with pytest.raises(Invalid):
        check_factors({"tool": bad})
    with pytest.raises(Invalid):
        trust_factor("tool", gated=False, factors={"tool": bad})


def test_a_factor_of_no_class_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match="'robot' is none of user, "):
        check_factors({"robot": 0.5})


# Decay: B377.


@pytest.mark.parametrize(
    ("days", "tau", "strength", "expected"),
    [
        (0, 7, 1, 1),
        (7, 7, 1, math.exp(-1)),
        (14, 7, 2, math.exp(-1)),
        (7, 7, 0.1, math.exp(-2)),
        (3, 0.2, 1, math.exp(-3)),
        (3, -5, 1, math.exp(-3)),
        (-7, 7, 1, 1),
        (1e300, 1, 1, 0),
        (1, 1e308, 1e308, 1),
    ],
)
def test_decay_is_slower_for_what_is_often_recalled(
    days: float, tau: float, strength: float, expected: float
) -> None:
    """B377."""
    assert decay(days * DAY_SECONDS, tau, strength) == pytest.approx(expected)


@given(st.floats(0, 1e9), st.floats(0, 1e3), st.floats(0, 10), st.floats(0, 10))
def test_a_stronger_memory_decays_no_faster(
    elapsed: float, tau: float, one: float, other: float
) -> None:
    """B377."""
    weak, strong = sorted((one, other))
    assert 0 <= decay(elapsed, tau, weak) <= decay(elapsed, tau, strong) <= 1


@pytest.mark.parametrize("elapsed", [None, math.nan, -1])
def test_what_has_no_age_does_not_decay(elapsed: float | None) -> None:
    assert decay(elapsed, 7, 1) == 1


@pytest.mark.parametrize("bad", no_numbers)
def test_decay_is_of_numbers_alone(bad: Any) -> None:
    with pytest.raises(Invalid) as tau:
        decay(1, bad, 1)
    with pytest.raises(Invalid) as strength:
        decay(1, 7, bad)
    assert (tau.value.field, strength.value.field) == ("tau_days", "strength")
