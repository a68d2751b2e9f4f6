"""Blend a cosine with the share of the words that a text covers. Pure: no Django."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.types import check_finite

BLEND: Final = 0.2
"""Share of the words in the blend."""

TERM: Final = re.compile("[a-z0-9]{2,}")


def blend(
    cosines: Mapping[str, float], coverage: Mapping[str, float], lam: float = BLEND
) -> dict[str, float]:
    """Return ``(1 - lam) * cosine + lam * coverage`` of each record, 0..1 (B115).

    Args:
        cosines: -1..1; one below 0, missing or not finite counts 0.
        coverage: 0..1, the share of the question's words; a missing one counts 0.
        lam: Share of the words, 0..1; 0 is similarity alone.

    Raises:
        Invalid: ``lam`` is not in 0..1.
    """
    words = check_finite(lam, "lam")
    if not 0 <= words <= 1:
        message = "lam must be in 0..1."
        raise Invalid(message, field="lam")
    return {
        record_id: (1 - words) * _clamped(cosines.get(record_id, 0.0))
        + words * _clamped(coverage.get(record_id, 0.0))
        for record_id in {**cosines, **coverage}
    }


def coverage(query: str, text: str) -> float:
    """Return the share of the query's distinct terms that the text holds, 0..1.

    A term is two or more of ``a-z0-9`` in the lower-cased text. A query without any,
    such as one in another script, covers nothing.
    """
    wanted = {*TERM.findall(query.lower())}
    if not wanted:
        return 0.0
    return len(wanted.intersection(TERM.findall(text.lower()))) / len(wanted)


def _clamped(value: float) -> float:
    return min(max(value, 0.0), 1.0) if math.isfinite(value) else 0.0
