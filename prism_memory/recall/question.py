"""What is asked, and how; checked before anything is done. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.recall.blending import BLEND
from prism_memory.types import (
    Scoring,
    check_bool,
    check_count,
    check_finite,
    check_part,
)

LEGS: Final = ("vector", "text", "recency")
FUSIONS: Final = ("convex", "rrf", "blend")
HYBRID: Final = ("vector", "text")
WEIGHED: Final = (*LEGS, "entity")
"""Legs that a caller may weigh; the last is asked by other options."""

MOST_HOPS: Final = 2

WEIGHTS: Final[Mapping[str, float]] = {
    "vector": 0.65,
    "text": 1.0,
    "recency": 0.35,
    "entity": 0.5,
}
"""What each leg counts in ``convex`` unless a caller says. Measured, but for recency
and entity; see docs/benchmarks.md."""

CANDIDATES_PER_HIT: Final = 6
CANDIDATES_AT_MOST: Final = 128
"""Each leg is asked for more than is shown, so that a record which both legs find a
little further down can win."""

SMALL_PAGE: Final = 5
CANDIDATES_AT_LEAST: Final = 16
"""Of a small page no more: measured, more find nothing more; see docs/benchmarks.md."""


@dataclass(frozen=True)
class Question:
    """What is asked, and how. See ``types.Options`` for what each means.

    Args:
        text: Not blank.
        top_k: Hits wanted, 0 to 32.

    Raises:
        Invalid: A value is not acceptable; the error names it.
        LimitExceeded: ``expand_hops`` is not 0, 1 or 2.
    """

    text: str
    top_k: int
    legs: str | Collection[str] = "hybrid"
    fusion: str = "convex"
    weights: Mapping[str, float] | None = None
    rrf_k: float | None = None
    blend: float | None = None
    candidates: int | None = None
    context: bool | None = None
    scoring: Scoring | None = None
    trust_weighting: bool = True
    decay_days: float | None = None
    diversity: float | None = None
    multi_query: int = 1
    hyde: bool = False
    expand_hops: int = 0
    entity_match: bool = False
    max_bytes: int | None = None
    max_tokens: int | None = None
    message_range: int = 0
    explain: bool = False
    deadline_seconds: float | None = None
    cancelled: Callable[[], bool] | None = None
    asked: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "asked", legs_of(self.legs))
        if self.fusion not in FUSIONS:
            message = f"fusion must be one of {', '.join(FUSIONS)}."
            raise Invalid(message, field="fusion")
        if self.fusion == "blend" and not self.is_worded:
            message = "fusion can be blend only of the legs vector or text."
            raise Invalid(message, field="fusion")
        check_weights(self.weights)
        check_part(self.scoring, Scoring, "scoring")
        for name in ("trust_weighting", "hyde", "entity_match", "explain"):
            check_bool(getattr(self, name), name)
        check_hops(self.expand_hops)
        if self.context is not None:
            check_bool(self.context, "context")
        for name in ("rrf_k", "decay_days", "deadline_seconds"):
            check_positive(getattr(self, name), name)
        for name in ("blend", "diversity"):
            check_share(getattr(self, name), name)
        stop: object = self.cancelled
        if stop is not None and not callable(stop):
            message = "cancelled must be something to call."
            raise Invalid(message, field="cancelled")

    @property
    def candidate_rows(self) -> int:
        """How many candidates each leg is asked for: a power of two.

        It is a constant of the statement, of which there shall be few.
        """
        if self.candidates is not None:
            return 1 << (max(self.candidates, self.top_k, 1) - 1).bit_length()
        scored = self.scoring is not None and self.scoring.active
        reordered = scored or (self.diversity, self.decay_days) != (None, None)
        wanted = CANDIDATES_PER_HIT * self.top_k
        if self.top_k <= SMALL_PAGE and not reordered:
            wanted = CANDIDATES_AT_LEAST
        wanted = max(wanted, CANDIDATES_AT_LEAST)
        return min(1 << (wanted - 1).bit_length(), CANDIDATES_AT_MOST)

    @property
    def uses_context(self) -> bool:
        """Whether what stands around a record speaks for it."""
        if self.context is None:
            return "text" in self.asked and self.fusion != "blend"
        return self.context

    @property
    def is_worded(self) -> bool:
        """Whether a leg is asked that looks at the words of the question."""
        return not {"vector", "text"}.isdisjoint(self.asked)

    @property
    def is_varied(self) -> bool:
        """Whether a transformer has something to do: recency reads no words."""
        return self.is_worded and (self.multi_query > 1 or self.hyde)

    @property
    def is_widened(self) -> bool:
        """Whether facts are added that share an entity."""
        return self.expand_hops > 0 or self.entity_match

    @property
    def words_share(self) -> float:
        """Share of the words in ``blend``."""
        return BLEND if self.blend is None else self.blend

    @property
    def weight_of(self) -> Mapping[str, float]:
        """What each leg that is asked counts: as given, or as measured."""
        legs = (*self.asked, "entity") if self.is_widened else self.asked
        if self.fusion == "blend":
            shares = {"vector": 1 - self.words_share, "text": self.words_share}
            return {leg: shares.get(leg, 0.0) for leg in legs}
        usual = WEIGHTS if self.weights is None and self.fusion == "convex" else {}
        given = usual if self.weights is None else self.weights
        return {leg: given.get(leg, 1.0) for leg in legs}


def legs_of(given: str | Collection[str]) -> tuple[str, ...]:
    """Return the legs by name, in one order.

    Raises:
        Invalid: There are no such legs, or none.
    """
    named: object = HYBRID if given == "hybrid" else given
    names = [named] if isinstance(named, str) else named
    listed = [*names] if isinstance(names, Collection) else []
    if not listed or any(name not in LEGS for name in listed):
        message = f"legs must be hybrid, or some of {', '.join(LEGS)}."
        raise Invalid(message, field="legs")
    return tuple(leg for leg in LEGS if leg in listed)


def check_weights(weights: object) -> None:
    """Check weights of legs; a missing one counts 1.

    Raises:
        Invalid: No mapping, a leg that there is not, or a weight that is no number of
            at least 0. Those of a caller are refused aloud, not counted as 1.
    """
    if weights is None:
        return
    if not isinstance(weights, Mapping):
        message = "weights must be a mapping of legs to numbers."
        raise Invalid(message, field="weights")
    for leg, weight in weights.items():
        if leg not in WEIGHED:
            message = f"weights must name some of {', '.join(WEIGHED)}."
            raise Invalid(message, field="weights")
        if check_finite(weight, "weights") < 0:
            message = "weights must be at least 0."
            raise Invalid(message, field="weights")


def check_hops(hops: object) -> None:
    """Check by how many hops an answer is widened.

    Raises:
        LimitExceeded: It is no integer of 0..2.
    """
    if check_count(hops, "expand_hops") > MOST_HOPS:
        message = f"expand_hops must be in 0..{MOST_HOPS}."
        raise LimitExceeded(message, field="expand_hops")


def check_positive(value: float | None, name: str) -> None:
    """Check a number that must be above 0, where one is given.

    Raises:
        Invalid: It is not.
    """
    if value is not None and check_finite(value, name) <= 0:
        message = f"{name} must be above 0."
        raise Invalid(message, field=name)


def check_share(value: float | None, name: str) -> None:
    """Check a number of 0..1, where one is given.

    Raises:
        Invalid: It is not.
    """
    if value is not None and not 0 <= check_finite(value, name) <= 1:
        message = f"{name} must be in 0..1."
        raise Invalid(message, field=name)
