"""How the legs are asked. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """How the legs are asked.

    Args:
        legs: Names of those that are asked, in one order.
        index: The vector leg goes by the HNSW index, not by an exact scan.
        external: It compares what an external index named, and what that lacks yet.
        bounded: The text leg searches common words only beside others.
        small: So few rows are in sight that the text leg reads them all.
        beside: What stands beside the best becomes a candidate too.
        rows: Candidates wanted of each leg.
        weighed: The answer tells what the words weigh, for rows that are read apart.
        guarded: It is taken that the tenant restricts no document; see
            ``Reader.documents``.
    """

    legs: tuple[str, ...]
    index: bool = False
    external: bool = False
    bounded: bool = False
    small: bool = False
    beside: bool = True
    rows: int = 32
    weighed: bool = False
    guarded: bool = False


@dataclass(frozen=True)
class Leg:
    """How one leg stands in the statement.

    Args:
        gives: Name of its list of records and scores, higher is better.
        parts: Names of the parts of ``db/sql/recall.sql`` that make that list.
    """

    gives: str
    parts: Callable[[Plan], Sequence[str]]
