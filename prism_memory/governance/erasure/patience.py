"""Wait for the locks of others without ever standing in their way for long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from django.db import OperationalError, transaction
from psycopg.errors import DeadlockDetected, LockNotAvailable

from prism_memory.errors import Conflict

T = TypeVar("T")

WAIT: Final = "500ms"
"""How long one lock is waited for, with the lineage held. Shorter than PostgreSQL's
``deadlock_timeout``: of two that wait for each other the erasure gives way."""

TRIES: Final = 120
LONGEST_PAUSE_SECONDS: Final = 1.0


def patiently(using: str, step: Callable[[], T]) -> T:
    """Return what a step does; where somebody has a lock, try again a little later.

    Raises:
        Conflict: Somebody has it all the time.
    """
    for attempt in range(TRIES):
        try:
            return step()
        except OperationalError as error:
            if not isinstance(error.__cause__, (LockNotAvailable, DeadlockDetected)):
                raise
            if transaction.get_connection(using).needs_rollback:
                break
        pause = min(LONGEST_PAUSE_SECONDS, 0.01 * 2 ** min(attempt, 16))
        time.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - only a delay
    message = "An open transaction holds what is to be erased; try again later."
    raise Conflict(message)
