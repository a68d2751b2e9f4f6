"""What an iterative recall decides and returns."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from prism_memory.types.answers import Hit


@dataclass(frozen=True, slots=True)
class Grade:
    """Whether passages answer a question.

    Args:
        sufficient: The answer stands in the passages.
        reformulation: What to search for instead, where it does not; or None.
    """

    sufficient: bool
    reformulation: str | None = None


@dataclass(frozen=True)
class DeepRecalled(Sequence[Hit]):
    """The hits of one or more passes, best first, and how they were found (B408).

    Args:
        iterations: Passes that searched.
        gate_hard: The question was judged hard, or that was forced.
        sufficient: The last verdict; True where nobody gave one.
        abstained: The hits were judged and do not answer the question: say so rather
            than guess.
        graded: A grader gave at least one verdict.
        queries: What each pass searched for; the first is the question.
        degraded: Why the answer is poorer than it could be, or empty.
        trace_id: Of the trace that is kept of the whole, or None where none is. Each
            pass has one of its own.
    """

    hits: tuple[Hit, ...] = ()
    iterations: int = 1
    gate_hard: bool = False
    sufficient: bool = True
    abstained: bool = False
    graded: bool = False
    queries: tuple[str, ...] = ()
    degraded: str = ""
    trace_id: uuid.UUID | None = field(default=None, compare=False)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)
