"""How the legs are asked first, and what follows from an answer. No database here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.recall.candidates.places import Size
from prism_memory.recall.candidates.plan import Plan
from prism_memory.recall.candidates.vector import ANY_SIZE, LOOKED_AT, VectorLeg


@dataclass(frozen=True)
class Attempt:
    """One way of asking.

    Args:
        plan: How the legs are asked.
        look: The nearest that an exact scan sorts and looks at.
        exact_rows: Vectors up to which an exact scan answers.
    """

    plan: Plan
    look: int
    exact_rows: int

    def following(self, answer: Sequence[dict[str, Any]]) -> Attempt | None:
        """Return how to ask again; None when the answer is whole."""
        row = answer[0]
        better = self
        if self.plan.index:
            if not self.is_full(answer):
                better = better.exactly()
        elif "vector" in self.plan.legs and row["large"]:
            better = better.planned(index=True)
        elif row["cut"]:
            better = better.looking(ANY_SIZE, self.exact_rows)
        if self.plan.small and (row["bounded"] or not row["few"]):
            # Where rows are many, or words common, they are looked at as elsewhere.
            better = better.planned(small=False)
        if row["bounded"] and not self.plan.bounded:
            better = better.planned(bounded=True)
        return None if better is self else better

    def is_full(self, answer: Sequence[dict[str, Any]]) -> bool:
        """Tell whether the vector leg found as many as were wanted."""
        near = sum(row["vector_rank"] is not None for row in answer)
        return near >= self.plan.rows

    def exactly(self) -> Attempt:
        """Return the attempt without the index, however much is to be read."""
        return self.planned(index=False).looking(ANY_SIZE, ANY_SIZE)

    def planned(
        self,
        *,
        index: bool | None = None,
        bounded: bool | None = None,
        small: bool | None = None,
    ) -> Attempt:
        """Return the attempt with another plan; what is None stays."""
        plan = self.plan
        plan = replace(
            plan,
            index=plan.index if index is None else index,
            bounded=plan.bounded if bounded is None else bounded,
            small=plan.small if small is None else small,
        )
        return replace(self, plan=plan)

    def looking(self, look: int, exact_rows: int) -> Attempt:
        """Return the attempt with an exact scan that looks further."""
        return replace(self, look=look, exact_rows=exact_rows)


def first_attempt(
    reader: Reader,
    leg: VectorLeg,
    legs: Sequence[str],
    rows: int,
    known: Size,
    *,
    beside: bool,
    weighed: bool = False,
) -> Attempt:
    """Return how to ask first, by what is known of the place.

    A few ids are compared exactly, however large the place. What narrows the reader may
    leave few of the nearest, so then all of them are sorted; and words weigh over what
    is left, always: else the same question would be scored by what was asked before.
    """
    asked = tuple(name for name in legs if name != "vector" or leg.vector is not None)
    may_use_index = leg.indexed and settings.VECTOR_INDEX != "exact"
    by_index = may_use_index and reader.ids is None
    plan = Plan(
        asked,
        index=known.large and by_index and "vector" in asked,
        small=known.small and not known.common and "text" in asked,
        bounded=(known.common or reader.is_narrowed) and "text" in asked,
        beside=beside,
        rows=rows,
        weighed=weighed,
    )
    return Attempt(
        plan,
        look=ANY_SIZE if reader.is_narrowed else LOOKED_AT * rows,
        exact_rows=settings.EXACT_SCAN_ROWS if by_index else ANY_SIZE,
    )
