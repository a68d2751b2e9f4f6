"""How much a fact still matters. Pure arithmetic."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.types import Provenance, check_finite

RECALLS_AT_MOST: Final = 32
"""Recalls after which more say nothing new (B426). Source: S3."""

WEIGHTS: Final[Mapping[str, float]] = {
    "importance": 0.6,
    "quarantined": 0.7,
    "foreign": 0.2,
    "reinforcement": 0.0,
}
"""Source: S3 (B425)."""

WEIGHT_AT_MOST: Final = 10.0

NEUTRAL: Final = 0.5
"""The importance that changes nothing."""

FOREIGN: Final = frozenset(
    {
        Provenance.TOOL,
        Provenance.IMPORTED,
        Provenance.REFLECTION,
        Provenance.INDUCTION,
    }
)


def check_weights(given: Mapping[str, object]) -> dict[str, float]:
    """Return weights of a fact's salience.

    Raises:
        Invalid: One is unknown, or not in 0..10.
    """
    weights = {}
    for name, value in given.items():
        if name not in WEIGHTS:
            message = f"There is no weight {name!r}: only {', '.join(WEIGHTS)}."
            raise Invalid(message, field=str(name))
        weight = check_finite(value, str(name))
        if not 0 <= weight <= WEIGHT_AT_MOST:
            message = f"The weight {name} must be in 0..{WEIGHT_AT_MOST:g}."
            raise Invalid(message, field=name)
        weights[name] = weight
    return weights


@dataclass(frozen=True)
class Standing:
    """What is known of a fact, as far as its salience goes.

    Args:
        days: Since its last recall, else since it was written.
        strength: 0.5 and more; recalling makes it stronger.
        recalls: How often it was recalled.
        importance: 0..1; neutral when None.
    """

    days: float
    strength: float = 1.0
    recalls: int = 0
    importance: float | None = None
    quarantined: bool = False
    foreign: bool = False


def retention(standing: Standing, *, tau_days: float) -> float:
    """Return how much of a fact is left, 0..1.

    ``exp(-days / max(0.1, tau * max(0.5, strength)))``; 1 for one of the future.

    Source: S3 (B424).
    """
    scale = max(0.1, tau_days * max(0.5, standing.strength))
    return math.exp(-max(0.0, standing.days) / scale)


def salience(
    standing: Standing,
    *,
    tau_days: float,
    weights: Mapping[str, float] | None = None,
) -> float:
    """Return how much a fact matters beside others, 0 and more.

    Args:
        weights: Some of ``WEIGHTS``, in place of these.

    Source: S3 (B425, B426).
    """
    used = {**WEIGHTS, **(weights or {})}
    importance = NEUTRAL if standing.importance is None else standing.importance
    raised = max(0.0, 1 + used["importance"] * (importance - NEUTRAL))
    recalled = math.log1p(min(standing.recalls, RECALLS_AT_MOST))
    known = 1 + used["reinforcement"] * recalled / math.log1p(RECALLS_AT_MOST)
    trusted = 1.0
    if standing.quarantined:
        trusted = 1 - used["quarantined"]
    elif standing.foreign:
        trusted = 1 - used["foreign"]
    left = retention(standing, tau_days=tau_days)
    return max(0.0, left * raised * max(0.0, trusted) * max(0.0, known))
