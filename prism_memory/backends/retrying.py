"""Try again, a little later each time, within one deadline."""

from __future__ import annotations

import datetime as dt
import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from prism_memory.errors import ProviderUnavailable

FIRST_SECONDS: Final = 0.5
"""Longest wait before the second try; it doubles."""

LONGEST_SECONDS: Final = 8.0

T = TypeVar("T")


class Retry(ProviderUnavailable):
    """The provider did not answer; the same call may succeed in a moment.

    Args:
        after_seconds: How long the provider asks to be left alone, if it does.
    """

    def __init__(self, message: str, *, after_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.after_seconds = after_seconds


def retrying(call: Callable[[], T], *, retries: int, deadline: float) -> T:
    """Return what ``call`` returns, calling again while it raises ``Retry``.

    Sleeps between two calls, and never past the deadline.

    Args:
        call: Makes one try.
        retries: Most tries after the first.
        deadline: On the clock of ``time.monotonic``.

    Raises:
        ProviderUnavailable: The last try failed, or waiting on is past the deadline.
    """
    for attempt in range(retries):
        try:
            return call()
        except Retry as error:
            pause = max(backoff_seconds(attempt), error.after_seconds)
            if time.monotonic() + pause >= deadline:
                raise
            time.sleep(pause)
    return call()


def backoff_seconds(attempt: int) -> float:
    """Return the pause after try ``attempt``, from 0: doubling, half of it random.

    Callers that failed together must not come back together.
    """
    longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2.0**attempt)
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds the header Retry-After asks for; 0 without a readable one.

    Source: RFC 9110, section 10.2.3: seconds, or a date.
    """
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return max(0.0, (at - dt.datetime.now(tz=dt.UTC)).total_seconds())
