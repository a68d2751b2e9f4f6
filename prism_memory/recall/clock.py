"""How long a recall may take, and what took how long. Pure but for the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prism_memory.errors import Aborted, DeadlineExceeded, ProviderUnavailable


class Clock:
    """Runs from its making on.

    Args:
        deadline_seconds: The whole of the time, or None.
        cancelled: Asked between steps; True stops there.
    """

    def __init__(
        self,
        deadline_seconds: float | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._begun = time.monotonic()
        self._deadline_seconds = deadline_seconds
        self._cancelled = cancelled
        self.timings: dict[str, float] = {}

    def left(self) -> float | None:
        """Return the seconds that are left; None where there is no deadline.

        Raises:
            DeadlineExceeded: None are left.
            Aborted: The caller does not want the answer any more.
        """
        if self._cancelled is not None and self._cancelled():
            message = "The recall was cancelled."
            raise Aborted(message)
        if self._deadline_seconds is None:
            return None
        left = self._deadline_seconds - (time.monotonic() - self._begun)
        if left <= 0:
            raise DeadlineExceeded
        return left

    def is_over(self) -> bool:
        """Raise where no time is left or the caller has had enough; else False.

        Raises:
            DeadlineExceeded: No time is left.
            Aborted: The caller does not want the answer any more.
        """
        self.left()
        return False

    @contextmanager
    def step(self, name: str) -> Iterator[float | None]:
        """Time a step, in milliseconds, and tell how long it may take in seconds.

        Raises:
            DeadlineExceeded: No time is left for it.
            Aborted: The caller does not want the answer any more.
        """
        left = self.left()
        begun = time.perf_counter()
        try:
            yield left
        except ProviderUnavailable:
            self.left()  # one that took all the time there was is told as that
            raise
        finally:
            spent = (time.perf_counter() - begun) * 1000
            self.timings[name] = self.timings.get(name, 0.0) + spent
