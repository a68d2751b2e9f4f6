"""Rows to search among, and how a page of hits is held against the oracle's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory.backends.loading import load
from prism_memory.testing.numpy_index import VectorIndex
from prism_memory.testing.requiring import require
from prism_memory.types import Vector

SHARES: Final = (0.0025, 0.02, 0.05, 0.2)
"""Parts of all rows that four scopes hold (C05); a fifth holds the rest."""


@dataclass(frozen=True)
class Demand:
    """What is asked of an index.

    Args:
        recall: Least share of the exact neighbours; 1 of an exact index.
        tolerance: Most that a cosine may be off; one of half precision is off by 1e-3.
        rows: Rows of the large table.
    """

    recall: float = 1.0
    tolerance: float = 1e-6
    rows: int = 20_000


def check_pages(
    index: VectorIndex,
    oracle: VectorIndex,
    scope: str,
    questions: Sequence[Vector],
    k: int,
    demand: Demand,
) -> None:
    """Check one page a question against the oracle, and the share found in all."""
    shares = []
    for question in questions:
        true = dict(oracle.search(scope, question, demand.rows))
        found = index.search(scope, question, k)
        check_page(found, true, min(k, len(true)), demand.tolerance, scope)
        if found:
            # A row as near as the last exact one is a neighbour too, so that rounding
            # decides nothing. Source: ann-benchmarks, recall with an epsilon.
            least = sorted(true.values())[-len(found)] - demand.tolerance
            shares.append(sum(true[i] >= least for i, _ in found) / len(found))
    held = math.fsum(shares) / len(shares) if shares else 1.0
    require(
        held >= demand.recall,
        f"{held:.4f} of the {k} nearest in the scope {scope!r}, not {demand.recall}",
    )


def check_page(
    found: Sequence[tuple[str, float]],
    true: dict[str, float],
    rows: int,
    tolerance: float,
    scope: str,
) -> None:
    """Check that a page is full, of the scope, in order and with the right cosines."""
    ids = [i for i, _ in found]
    where = f"in the scope {scope!r}"
    require(true.keys() >= {*ids}, f"a foreign row {where}")
    require(len(found) == rows, f"{len(found)} rows instead of {rows} {where}")
    require(len({*ids}) == rows, f"a row comes twice {where}")
    for i, cosine in found:
        require(abs(cosine - true[i]) <= tolerance, f"a cosine is off {where}")
    cosines = [cosine for _, cosine in found]
    require(cosines == sorted(cosines, reverse=True), f"not nearest first {where}")


def ones(index: VectorIndex) -> list[float]:
    return [1.0] * index.dimensions


def made(dimensions: int, count: int, *, seed: int) -> list[list[float]]:
    """Return vectors in random directions, the same ones for a seed."""
    generator = load("numpy", extra="local").random.default_rng(seed)
    rows: list[list[float]] = generator.standard_normal((count, dimensions)).tolist()
    return rows


def shared(rows: int) -> list[str]:
    """Return the scope of each of the rows, those of one scope spread over all."""
    scopes = [f"{share:.2%}" for share in SHARES for _ in range(round(share * rows))]
    scopes += ["rest"] * (rows - len(scopes))
    load("numpy", extra="local").random.default_rng(0).shuffle(scopes)
    return scopes


def fill(
    indexes: Sequence[VectorIndex],
    rows: Sequence[Vector],
    scopes: Sequence[str],
    *,
    start: int = 0,
) -> None:
    """Add rows to several indexes, their ids counted from ``start``."""
    ids = [str(number) for number in range(start, start + len(rows))]
    for index in indexes:
        index.add(ids, scopes, rows)
