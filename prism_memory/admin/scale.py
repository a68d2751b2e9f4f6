"""From moments to places across a picture. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """From moments to places across."""

    start: dt.datetime
    end: dt.datetime
    left: float
    right: float

    def at(self, moment: dt.datetime) -> float:
        """Return the place of a moment, within the sheet whatever it is."""
        share = (moment - self.start) / (self.end - self.start)
        return self.left + min(1.0, max(0.0, share)) * (self.right - self.left)


def scale_of(moments: Collection[dt.datetime], *, left: float, right: float) -> Scale:
    """Return a scale from the first to the last of some moments."""
    first, last = min(moments), max(moments)
    if last <= first:
        first, last = _apart(first)
    return Scale(first, last, left, right)


def _apart(moment: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    """Return an interval about a moment, within the calendar."""
    day = dt.timedelta(days=1)
    if moment.year < dt.MAXYEAR:
        return moment, moment + day
    return moment - day, moment
