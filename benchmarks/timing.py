"""Times of things that are measured side by side."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

Q = TypeVar("Q")


def interleaved(
    calls: Mapping[str, Callable[[Q], object]],
    questions: Sequence[Q],
    *,
    rounds: int = 1,
) -> dict[str, list[float]]:
    """Return the milliseconds of each call by its name.

    The calls take turns, A B A B, so that whatever slows the machine down slows all of
    them. Each question is asked once before the clock counts.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for question in questions:
        for call in calls.values():
            call(question)
    for _ in range(rounds):
        for question in questions:
            for name, call in calls.items():
                started = time.perf_counter()
                call(question)
                times[name].append((time.perf_counter() - started) * 1e3)
    return times


def p50(times: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(times)


def p95(times: Sequence[float]) -> float:
    """Return the 95th percentile, by the nearest rank."""
    ranked = sorted(times)
    return ranked[max(0, -(-len(ranked) * 95 // 100) - 1)]
