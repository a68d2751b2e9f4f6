"""Add facts that share an entity with what was found, or with the question.

After the other legs and apart from them: a question that does not ask for it costs no
more, and its statement is the same.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from prism_memory import integrity
from prism_memory.access import Reader
from prism_memory.db.local import limited
from prism_memory.recall.candidates import Found, VectorLeg, entity
from prism_memory.recall.candidates.entity import Reached
from prism_memory.recall.clock import Clock
from prism_memory.recall.fusion import order
from prism_memory.recall.intact import only_intact
from prism_memory.recall.named import names_in
from prism_memory.recall.question import Question
from prism_memory.recall.ranking import Pool, fused
from prism_memory.types import Kind

SEEDS: Final = 32
"""Facts that one hop begins at: the best of what was found."""


@dataclass(frozen=True)
class Widening:
    """What is the same in all hops of one recall.

    Args:
        rows: Facts wanted of each.
    """

    using: str
    reader: Reader
    question: Question
    leg: VectorLeg
    rows: int
    clock: Clock

    def widen(self, pool: Pool, found: Found) -> Found:
        """Add to the pool; return the answer with what was cut or withheld here.

        One query for each hop, and one for the names in the question.
        """
        seeds = self._facts_of(pool)
        if self.question.entity_match:
            found = self._add(pool, found, self._named(), hops=0)
        for hops in range(1, self.question.expand_hops + 1):
            reached = self._from(seeds, pool)
            found = self._add(pool, found, reached, hops=hops)
            seeds = [uuid.UUID(i) for i in reached.rows if i in pool.rows][:SEEDS]
        return found

    def _facts_of(self, pool: Pool) -> list[uuid.UUID]:
        """Return the best of the facts that the other legs found."""
        sequences = {i: row["sequence"] for i, row in pool.rows.items()}
        best = order(fused(pool, self.question), sequences)
        facts = [i for i in best if pool.rows[i]["kind"] == Kind.FACT]
        return [uuid.UUID(i) for i in facts[:SEEDS]]

    def _named(self) -> Reached:
        with self.clock.step("entities") as left, limited(self.using, left):
            return entity.of_names(
                using=self.using,
                reader=self.reader,
                leg=self.leg,
                names=names_in(self.question.text),
                rows=self.rows,
            )

    def _from(self, seeds: Sequence[uuid.UUID], pool: Pool) -> Reached:
        with self.clock.step("entities") as left, limited(self.using, left):
            return entity.of_facts(
                using=self.using,
                reader=self.reader,
                leg=self.leg,
                seeds=seeds,
                without=[uuid.UUID(i) for i in pool.rows],
                rows=self.rows,
            )

    def _add(self, pool: Pool, found: Found, reached: Reached, hops: int) -> Found:
        kept = Found(reached.rows, found.strategy)
        if integrity.is_enforced():
            with self.clock.step("integrity") as left, limited(self.using, left):
                kept = only_intact(self.using, self.reader, kept)
        pool.widen(kept.rows, hops)
        return replace(
            found,
            bounded=found.bounded or reached.bounded,
            withheld=found.withheld + kept.withheld,
        )
