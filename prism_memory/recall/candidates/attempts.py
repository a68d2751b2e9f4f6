"""How the legs are asked first, and what follows from an answer. No database here."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.recall.candidates.places import Size
from prism_memory.recall.candidates.plan import Plan
from prism_memory.recall.candidates.vector import ANY_SIZE, LOOKED_AT, VectorLeg

FURTHER: Final = 8
"""An external index that named too few in sight is asked for so many times more."""

NAMED_AT_MOST: Final = 10_000
"""Ids that it is asked for at most; then an exact scan is cheaper."""


@dataclass(frozen=True)
class Attempt:
    """One way of asking.

    Args:
        plan: How the legs are asked.
        look: The nearest that an exact scan sorts and looks at.
        exact_rows: Vectors up to which an exact scan answers.
        named: What an external index named of ``look`` wanted; None where it was not
            asked yet.
        lost: Why it could not be asked, or empty.
    """

    plan: Plan
    look: int
    exact_rows: int
    named: tuple[uuid.UUID, ...] | None = None
    lost: str = ""

    def following(self, answer: Sequence[dict[str, Any]]) -> Attempt | None:
        """Return how to ask again; None when the answer is whole."""
        row = answer[0]
        if self.plan.guarded and row["restricts"]:
            return self.planned(guarded=False)  # it saw nothing, and says nothing else
        better = self.nearer(answer)
        if self.plan.small and (row["bounded"] or not row["few"]):
            # Where rows are many, or words common, they are looked at as elsewhere.
            better = better.planned(small=False)
        if row["bounded"] and not self.plan.bounded:
            better = better.planned(bounded=True)
        return None if better is self else better

    def nearer(self, answer: Sequence[dict[str, Any]]) -> Attempt:
        """Return how the vector leg is asked again; the same where it need not be."""
        row = answer[0]
        if self.plan.external:
            whole = row["copied"] is not None and self.is_full(answer)
            return self if whole else self.further(row)
        if self.plan.index:
            return self if self.is_full(answer) else self.exactly()
        if "vector" in self.plan.legs and row["large"]:
            return self.planned(index=True)
        return self.looking(ANY_SIZE, self.exact_rows) if row["cut"] else self

    def is_full(self, answer: Sequence[dict[str, Any]]) -> bool:
        """Tell whether the vector leg found as many as were wanted."""
        near = sum(row["vector_rank"] is not None for row in answer)
        return near >= self.plan.rows

    def further(self, row: dict[str, Any]) -> Attempt:
        """Return how to ask again where an external index named too few in sight.

        It is asked for more until it has no more. Where that is less than the scopes
        hold, or it was never told all, PostgreSQL looks itself.
        """
        if row["copied"] is None:
            return self.exactly()
        if len(self.named or ()) < self.look:
            return self if row["vectors"] <= row["copied"] else self.exactly()
        if self.look >= NAMED_AT_MOST:
            return self.exactly()
        look = min(self.look * FURTHER, NAMED_AT_MOST)
        return replace(self, look=look, named=None)

    def within(self, leg: VectorLeg) -> Attempt:
        """Return the attempt as PostgreSQL alone is asked where it knows nothing yet.

        By the HNSW index where there is one and the exact scan would be long.
        """
        bound = settings.EXACT_SCAN_ROWS if leg.indexed else ANY_SIZE
        return self.exactly().looking(ANY_SIZE, bound)

    def exactly(self) -> Attempt:
        """Return the attempt without any index, however much is to be read."""
        plan = replace(self.plan, index=False, external=False)
        return replace(self, plan=plan, named=None).looking(ANY_SIZE, ANY_SIZE)

    def planned(
        self,
        *,
        index: bool | None = None,
        bounded: bool | None = None,
        small: bool | None = None,
        guarded: bool | None = None,
    ) -> Attempt:
        """Return the attempt with another plan; what is None stays."""
        plan = self.plan
        plan = replace(
            plan,
            index=plan.index if index is None else index,
            bounded=plan.bounded if bounded is None else bounded,
            small=plan.small if small is None else small,
            guarded=plan.guarded if guarded is None else guarded,
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
    external = leg.external is not None and reader.ids is None and "vector" in asked
    plan = Plan(
        asked,
        index=known.large and by_index and "vector" in asked and not external,
        external=external,
        small=known.small and not known.common and "text" in asked,
        bounded=(known.common or reader.is_narrowed) and "text" in asked,
        beside=beside,
        rows=rows,
        weighed=weighed,
        guarded=reader.is_unauthorized and not known.restricts,
    )
    return Attempt(
        plan,
        look=ANY_SIZE if reader.is_narrowed and not external else LOOKED_AT * rows,
        exact_rows=settings.EXACT_SCAN_ROWS if by_index else ANY_SIZE,
    )
