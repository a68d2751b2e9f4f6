"""What a score becomes by age, importance and trust. Pure: no Django, no clock.

Three arithmetics of age are kept apart: ``recency`` is by half-life (S0), ``decay`` by
a time constant that being recalled makes longer (S3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.types import Scoring, Trust, check_choice, check_finite

DAY_SECONDS: Final = 86_400

QUARANTINED: Final = "quarantined"
"""Key of the factor of what is quarantined, whatever its trust class."""

TRUST_FACTORS: Final[Mapping[str, float]] = {
    Trust.USER: 1.0,
    Trust.SYSTEM: 1.0,
    Trust.DOCUMENT: 0.8,
    Trust.TOOL: 0.8,
    Trust.AGENT: 0.8,
    Trust.SUBAGENT: 0.8,
    Trust.CONSOLIDATOR: 0.8,
    QUARANTINED: 0.3,
}
"""What a score is multiplied by, unless the setting of this name says otherwise."""


def damping(hops: int) -> float:
    """Return ``0.5 ** hops``: what so many hops from what was found count (B394).

    Source: S3.
    """
    return float(0.5**hops)


def recency(age_seconds: float | None, half_life_seconds: float | None) -> float:
    """Return ``2 ** (-age / half_life)``, 0..1 (B123).

    Args:
        age_seconds: One that is missing, no number or in the future counts 1.
        half_life_seconds: None: everything counts 1.

    Raises:
        Invalid: The half-life is not positive and finite.
    """
    if half_life_seconds is None:
        return 1.0
    half_life = _positive(half_life_seconds, "half_life_seconds")
    # Written so that NaN counts 1 too.
    if age_seconds is None or not age_seconds > 0:
        return 1.0
    return float(2.0 ** (-age_seconds / half_life))


def importance(value: float | None) -> float:
    """Return the importance, 0..1; one that is absent or not finite counts 1 (B124)."""
    if value is None or not math.isfinite(value):
        return 1.0
    return min(max(float(value), 0.0), 1.0)


def composite(
    similarity: float, recency: float, importance: float, scoring: Scoring
) -> float:
    """Return the weighted sum of the three, 0..1 (B120, B121).

    The weights of recency and importance are divided by their sum where that is over
    1, and similarity has what is left of 1.

    Args:
        similarity: 0..1, as are the other two.
    """
    told = scoring.recency_weight + scoring.importance_weight
    total = max(1.0, told)
    score = math.fsum(
        (
            (1 - told / total) * similarity,
            scoring.recency_weight / total * recency,
            scoring.importance_weight / total * importance,
        )
    )
    return min(score, 1.0)  # the shares may round to a trifle more than 1


def trust_factor(
    trust: str, gated: bool, factors: Mapping[str, float] | None = None
) -> float:
    """Return what a record's score is multiplied by, 0..1 (B371).

    Args:
        trust: Its trust class.
        gated: Whether it is quarantined, which wins over the class.
        factors: By class, or ``quarantined``: used instead of ``TRUST_FACTORS``, key
            by key.

    Raises:
        Invalid: There is no such class, or its factor is not in 0..1.
    """
    key = QUARANTINED if gated else check_choice(trust, Trust, "trust")
    return _factor(key, (factors or {}).get(key, TRUST_FACTORS[key]))


def check_factors(factors: Mapping[str, object]) -> None:
    """Check a mapping of trust factors.

    Raises:
        Invalid: A key is neither a trust class nor ``quarantined``, or a factor is not
            in 0..1.
    """
    for key, factor in factors.items():
        if key not in TRUST_FACTORS:
            message = f"{key!r} is none of {', '.join(map(str, TRUST_FACTORS))}."
            raise Invalid(message, field="factors")
        _factor(key, factor)


def decay(elapsed_seconds: float | None, tau_days: float, strength: float) -> float:
    """Return ``exp(-days / (max(1, tau) * max(0.5, strength)))``, 0..1 (B377).

    Args:
        elapsed_seconds: Since the last access, else since the writing. One that is
            missing, no number or in the future counts 1.
        tau_days: Time constant; below a day it counts as one.
        strength: Grows as a record is recalled; below 0.5 it counts as that.

    Raises:
        Invalid: ``tau_days`` or ``strength`` is not finite.
    """
    tau = max(1.0, check_finite(tau_days, "tau_days"))
    held = max(0.5, check_finite(strength, "strength"))
    if elapsed_seconds is None or not elapsed_seconds > 0:
        return 1.0
    # Divided one by one: the product of two large numbers may not be finite.
    return math.exp(-elapsed_seconds / DAY_SECONDS / tau / held)


def _factor(key: str, value: object) -> float:
    factor = check_finite(value, f"The factor of {key}")
    if not 0 <= factor <= 1:
        message = f"The factor of {key} must be in 0..1."
        raise Invalid(message, field="factors")
    return factor


def _positive(value: float, name: str) -> float:
    number = check_finite(value, name)
    if number <= 0:
        message = f"{name} must be positive."
        raise Invalid(message, field=name)
    return number
