"""What a scan costs, from a few measured ones. Pure: no database, no clock."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory.errors import Conflict

Point = tuple[float, float]
"""Vectors, and what a scan of so many took in milliseconds."""

HALVINGS: Final = 60
"""Enough to find one vector among a million, and to spare."""


@dataclass(frozen=True)
class Measured:
    """What scans of some scopes took.

    Args:
        exact_ms: Median of the exact scan.
        index_ms: Median of the index scan.
        enough: The index gave all that it was asked for each time. Where it did not,
            recall would have scanned exactly after it.
    """

    scopes: int
    vectors: int
    exact_ms: float
    index_ms: float
    enough: bool

    @property
    def by_index_ms(self) -> float:
        """What going by the index costs a recall."""
        return self.index_ms + (0.0 if self.enough else self.exact_ms)


@dataclass(frozen=True)
class Calibration:
    """What was measured, and what follows.

    Args:
        tenant: Whose vectors were scanned.
        measured: By size.
        base_ms: What an exact scan takes with no vectors at all.
        exact_ms_per_1000: What each thousand vectors add to that.
        index_ms: What an index scan takes where the two meet.
        recommended: ``EXACT_SCAN_ROWS`` for this deployment.
    """

    tenant: str
    measured: tuple[Measured, ...]
    base_ms: float
    exact_ms_per_1000: float
    index_ms: float
    recommended: int


def fitted_line(points: Sequence[Point]) -> tuple[float, float]:
    """Return the base in ms and the slope in ms a vector, by least squares.

    Args:
        points: Two at least, of different sizes.
    """
    count = len(points)
    mean_size = math.fsum(size for size, _ in points) / count
    mean_ms = math.fsum(ms for _, ms in points) / count
    spread = math.fsum((size - mean_size) ** 2 for size, _ in points)
    shared = math.fsum((size - mean_size) * (ms - mean_ms) for size, ms in points)
    slope = shared / spread
    return mean_ms - slope * mean_size, slope


def interpolated(points: Sequence[Point], size: float) -> float:
    """Return the ms at ``size``: straight between points over the logarithm of it.

    Before the first and after the last it stays what it is there.

    Args:
        points: One at least, by their sizes, which are above 0.
    """
    if size <= points[0][0]:
        return points[0][1]
    for (low, low_ms), (high, high_ms) in itertools.pairwise(points):
        if size <= high:
            share = math.log(size / low) / math.log(high / low)
            return low_ms + share * (high_ms - low_ms)
    return points[-1][1]


def meeting(
    line: tuple[float, float], index: Sequence[Point], low: float, high: float
) -> float:
    """Return the size from which an index scan is no slower than an exact one.

    ``high`` where it is slower throughout, ``low`` where it never is.

    Args:
        line: Base and slope of the exact scan.
        index: What index scans took, by sizes.
        low: Least size that is looked at, above 0.
        high: Most.
    """
    base, slope = line

    def exact_is_quicker(size: float) -> bool:
        return base + slope * size < interpolated(index, size)

    if not exact_is_quicker(low):
        return low
    if exact_is_quicker(high):
        return high
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if exact_is_quicker(middle):
            low = middle
        else:
            high = middle
    return high


def rounded(size: float, digits: int = 2) -> int:
    """Return the size with so many digits that count."""
    if size < 1:
        return 0
    unit: int = 10 ** max(0, math.floor(math.log10(size)) - digits + 1)
    return round(size / unit) * unit


def concluded(tenant: str, measured: Sequence[Measured], *, most: int) -> Calibration:
    """Return what follows from what was measured.

    Args:
        measured: By size; the first is of nothing.
        most: The largest ``EXACT_SCAN_ROWS``.

    Raises:
        Conflict: Larger scans were not slower, or there was nothing to scan.
    """
    sized = sorted(
        (one for one in measured if one.vectors), key=lambda one: one.vectors
    )
    points = [(float(one.vectors), one.exact_ms) for one in measured]
    base, slope = fitted_line(points) if sized else (0.0, 0.0)
    if slope <= 0:
        message = "Larger scans took no longer: measure when the server has less to do."
        raise Conflict(message)
    by_index = [(float(one.vectors), one.by_index_ms) for one in sized]
    size = meeting((base, slope), by_index, 1.0, float(most))
    return Calibration(
        tenant=tenant,
        measured=tuple(sized),
        base_ms=base,
        exact_ms_per_1000=slope * 1000,
        index_ms=interpolated(by_index, size),
        recommended=0 if size <= 1 else min(rounded(size), most),
    )
