"""From measured scans to a number of vectors: arithmetic, without a database."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import Conflict
from prism_memory.indexing.costs import (
    Calibration,
    Measured,
    concluded,
    fitted_line,
    interpolated,
    meeting,
    rounded,
)

MOST = 1_000_000


def measured(
    vectors: int, exact_ms: float, index_ms: float = 0.0, *, enough: bool = True
) -> Measured:
    return Measured(1, vectors, exact_ms, index_ms, enough)


def conclude(*found: Measured) -> Calibration:
    return concluded("acme", found, most=MOST)


@given(
    base=st.floats(0, 10),
    slope=st.floats(1e-5, 0.1),
    sizes=st.lists(st.integers(0, 100_000), min_size=2, max_size=6, unique=True),
)
def test_points_on_a_line_give_that_line(
    base: float, slope: float, sizes: list[int]
) -> None:
    found = fitted_line([(size, base + slope * size) for size in sizes])

    assert found[0] == pytest.approx(base, abs=1e-3, rel=1e-3)
    assert found[1] == pytest.approx(slope, rel=1e-3)


def test_between_two_points_it_is_straight_over_the_logarithm() -> None:
    points = [(100.0, 4.0), (10_000.0, 2.0)]

    assert interpolated(points, 1) == 4
    assert interpolated(points, 1_000) == pytest.approx(3)
    assert interpolated(points, 1e6) == 2


@pytest.mark.parametrize(
    ("index", "size"),
    [
        ([(1_000.0, 5.0), (10_000.0, 5.0)], 4_500),
        ([(100.0, 50.0), (1_000.0, 20.0), (10_000.0, 5.0)], None),
        ([(1_000.0, 1e9)], MOST),
        ([(1_000.0, 0.1)], 1),
    ],
)
def test_the_two_meet_where_they_cost_the_same(
    index: list[tuple[float, float]], size: int | None
) -> None:
    line = (0.5, 0.001)
    found = meeting(line, index, 1, MOST)

    if size is None:
        cost = line[0] + line[1] * found
        assert cost == pytest.approx(interpolated(index, found))
    else:
        assert found == pytest.approx(size)


def test_a_conclusion_is_the_meeting_in_two_digits() -> None:
    found = conclude(
        measured(0, 0.5),
        measured(1_000, 1.5, 13.0),
        measured(20_000, 20.5, 13.0),
    )

    assert (found.base_ms, found.exact_ms_per_1000) == pytest.approx((0.5, 1.0))
    assert (found.index_ms, found.recommended) == (13.0, 12_000)
    assert [one.vectors for one in found.measured] == [1_000, 20_000]


def test_an_index_that_gives_too_few_costs_the_exact_scan_too() -> None:
    """Recall then scans exactly: such an index never pays."""
    zero = measured(0, 0.5)
    found = conclude(zero, measured(20_000, 20.5, 1.0, enough=False))
    assert found.recommended > 20_000
    assert conclude(zero, measured(20_000, 20.5, 1.0)).recommended < 1_000


def test_what_is_recommended_stays_in_the_bounds_of_the_setting() -> None:
    zero = measured(0, 0.5)
    assert conclude(zero, measured(1_000, 0.6, 500.0)).recommended == MOST
    assert conclude(zero, measured(1_000, 5.0, 0.1)).recommended == 0


@pytest.mark.parametrize(
    "found",
    [
        [measured(0, 2.0), measured(5_000, 1.0, 1.0)],
        [measured(0, 1.0), measured(5_000, 1.0, 1.0)],
        [measured(0, 1.0)],
        [measured(0, 1.0), measured(0, 2.0, 1.0)],
    ],
)
def test_times_that_say_nothing_are_no_advice(found: list[Measured]) -> None:
    with pytest.raises(Conflict, match="took no longer"):
        conclude(*found)


@given(st.floats(1, MOST))
def test_rounding_keeps_two_digits(size: float) -> None:
    found = rounded(size)

    assert math.isclose(found, size, rel_tol=0.5 if size < 10 else 0.051)
    assert len(str(found).rstrip("0")) <= 2
