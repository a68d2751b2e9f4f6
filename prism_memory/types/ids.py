"""Ids that are ordered by time, and by their making within a process."""

from __future__ import annotations

import os
import threading
import time
import uuid
from typing import Final

TICK_BITS: Final = 12
"""Of the version 7 layout: what follows the milliseconds, as a counter."""

SEED: Final = (1 << TICK_BITS - 1) - 1
"""A millisecond's counter starts anywhere in its lower half, and has the rest left."""

NIL: Final = uuid.UUID(int=0)
"""Before every other id. Source: RFC 9562, section 5.9."""

MAX: Final = uuid.UUID(int=2**128 - 1)
"""After every other id. Source: RFC 9562, section 5.10."""


class Ticks:
    """Numbers that only grow: milliseconds and a counter within each.

    Where a millisecond is used up, or the clock was put back, they run ahead of it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def following(self) -> int:
        """Return the next one."""
        seed = int.from_bytes(os.urandom(2), "big") & SEED
        now = (time.time_ns() // 1_000_000) << TICK_BITS | seed
        with self._lock:
            behind = now >> TICK_BITS <= self._last >> TICK_BITS
            self._last = self._last + 1 if behind else now
            return self._last

    def renew(self) -> None:
        """Go on in a forked child: a thread may have held the lock at the fork."""
        self._lock = threading.Lock()


_TICKS: Final = Ticks()
os.register_at_fork(after_in_child=_TICKS.renew)


def uuid7() -> uuid.UUID:
    """Return a new id, greater than all that this process made before.

    Source: RFC 9562, section 5.7, with the counter of section 6.2, method 1.
    """
    tick = _TICKS.following() & (1 << 48 + TICK_BITS) - 1
    milliseconds, counter = divmod(tick, 1 << TICK_BITS)
    value = milliseconds << 80 | 0x7 << 76 | counter << 64
    value |= 0b10 << 62 | int.from_bytes(os.urandom(8), "big") & (1 << 62) - 1
    return uuid.UUID(int=value)
