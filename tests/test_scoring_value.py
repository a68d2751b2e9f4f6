"""B118, B119, B122."""

from __future__ import annotations

import math
from typing import Any

import pytest

from prism_memory import types
from prism_memory.errors import Invalid
from prism_memory.types import Scoring

no_numbers: list[Any] = [True, "0.5", math.nan, math.inf, -math.inf, 10**400, [1]]


@pytest.mark.parametrize("name", ["recency_weight", "importance_weight"])
@pytest.mark.parametrize("bad", [*no_numbers, None, -0.01, 1.01])
def test_a_weight_is_finite_and_from_0_to_1(name: str, bad: Any) -> None:
    """B118."""
    with pytest.raises(Invalid) as raised:
        Scoring(**{"half_life_ms": 1, name: bad})
    assert raised.value.field == name


@pytest.mark.parametrize("bad", [*no_numbers, None, 0, 0.0, -1, 5e-324])
def test_recency_needs_a_half_life_above_0(bad: Any) -> None:
    """B119."""
    with pytest.raises(Invalid) as raised:
        Scoring(recency_weight=0.1, half_life_ms=bad)
    assert raised.value.field == "half_life_ms"


def test_without_recency_a_half_life_is_not_read() -> None:
    """B119."""
    assert Scoring(importance_weight=1).half_life_seconds is None
    assert Scoring(half_life_ms=0).half_life_seconds is None
    assert Scoring(half_life_ms=5_000).half_life_seconds is None


@pytest.mark.parametrize("bad", no_numbers)
def test_a_half_life_that_is_no_number_is_refused_even_then(bad: Any) -> None:
    with pytest.raises(Invalid):
        Scoring(half_life_ms=bad)


def test_a_half_life_is_told_in_seconds() -> None:
    assert Scoring(recency_weight=1, half_life_ms=1_500).half_life_seconds == 1.5


@pytest.mark.parametrize(
    ("weights", "active"), [((), False), ((0, 0), False), ((0, 0.1), True)]
)
def test_without_a_weight_scoring_is_off(weights: Any, active: bool) -> None:
    """B122."""
    assert Scoring(*weights).active is active
    assert Scoring(recency_weight=0.1, half_life_ms=1).active


def test_scoring_is_a_public_value() -> None:
    assert types.Scoring is Scoring
    assert Scoring() == Scoring(0.0, 0.0, None)
    assert hash(Scoring()) == hash(Scoring())
