"""How much recency and importance say beside similarity."""

from __future__ import annotations

from dataclasses import dataclass

from prism_memory.errors import Invalid
from prism_memory.types.checks import check_finite


@dataclass(frozen=True, slots=True)
class Scoring:
    """Weights of a composite score; similarity has what they leave of 1.

    Args:
        recency_weight: 0..1.
        importance_weight: 0..1. Weights over 1 in sum are divided by it.
        half_life_ms: Age in milliseconds at which recency is a half; above 0 where the
            recency weight is, and not read otherwise.

    Raises:
        Invalid: Not so (B118, B119); the error's field is the argument.
    """

    recency_weight: float = 0.0
    importance_weight: float = 0.0
    half_life_ms: float | None = None

    def __post_init__(self) -> None:
        for name in ("recency_weight", "importance_weight"):
            weight = check_finite(getattr(self, name), name)
            if not 0 <= weight <= 1:
                message = f"{name} must be in 0..1."
                raise Invalid(message, field=name)
        half_life: float | None = None
        if self.half_life_ms is not None:
            half_life = check_finite(self.half_life_ms, "half_life_ms")
        # Asked in seconds: the smallest numbers are none there.
        if self.recency_weight > 0 and not (half_life and half_life / 1000 > 0):
            message = "half_life_ms must be positive where recency has a weight."
            raise Invalid(message, field="half_life_ms")

    @property
    def active(self) -> bool:
        """Whether any weight is above 0; if none is, scores stay as they are (B122)."""
        return self.recency_weight > 0 or self.importance_weight > 0

    @property
    def half_life_seconds(self) -> float | None:
        """The half-life in seconds, or None where recency has no weight."""
        if self.half_life_ms is None or not self.recency_weight:
            return None
        return self.half_life_ms / 1000
