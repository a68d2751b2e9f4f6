"""How long to wait after a failure."""

from __future__ import annotations

import random
from typing import Final

from prism_memory.conf import settings

LONGEST_RETRY_SECONDS: Final = 3_600.0


def back_off_seconds(attempts: int) -> float:
    """Return how long to wait after so many tries: doubling, with half of it chance.

    Source: "equal jitter", M. Brooker, Exponential Backoff And Jitter (2015).
    """
    wait = settings.RETRY_SECONDS * 2.0 ** max(0, min(attempts, 32) - 1)
    capped = min(wait, LONGEST_RETRY_SECONDS)
    return capped / 2 + random.uniform(0, capped / 2)  # noqa: S311 - only a delay
