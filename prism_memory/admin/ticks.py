"""Where an axis of time has its marks: at round moments, and few of them. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final

DAY: Final = dt.timedelta(days=1)
STEPS: Final = (
    *(dt.timedelta(minutes=n) for n in (1, 5, 15, 30)),
    *(dt.timedelta(hours=n) for n in (1, 3, 6, 12)),
    *(dt.timedelta(days=n) for n in (1, 2, 7, 14)),
)
CENTURY: Final = 1_200
MONTHS: Final = (
    *(1, 3, 6, 12, 24, 60, 120, 240, 600),
    *(CENTURY * n for n in (1, 2, 5, 10, 20, 50, 100)),
)
LONGEST_MONTH: Final = dt.timedelta(days=31)
YEAR: Final = 12
"""Months."""

Tick = tuple[dt.datetime, str]


def ticks(start: dt.datetime, end: dt.datetime, most: int) -> list[Tick]:
    """Return at most about ``most`` round moments of an interval, each with a label.

    Args:
        start: Aware; the marks are round in its zone.
        end: Later than ``start``.
        most: At least 1.
    """
    length = end - start
    for step in STEPS:
        if length <= step * most:
            return [
                (moment, _time(moment, step)) for moment in _fixed(start, end, step)
            ]
    for months in MONTHS:
        # In days: that many months of 31 would not fit into a timedelta for long.
        if length.days <= LONGEST_MONTH.days * months * most:
            break
    return [(moment, _date(moment, months)) for moment in _monthly(start, end, months)]


def _fixed(
    start: dt.datetime, end: dt.datetime, step: dt.timedelta
) -> Iterator[dt.datetime]:
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    place = -((midnight - start) // step)
    while True:
        try:
            moment = midnight + place * step
        except OverflowError:
            return
        if moment > end:
            return
        if moment >= start:
            yield moment
        place += 1


def _monthly(
    start: dt.datetime, end: dt.datetime, months: int
) -> Iterator[dt.datetime]:
    last = end.year * YEAR + end.month - 1
    place = -(-(start.year * YEAR + start.month - 1) // months) * months
    while place <= last:
        year, month = divmod(place, YEAR)
        if dt.MINYEAR <= year <= dt.MAXYEAR:
            moment = dt.datetime(year, month + 1, 1, tzinfo=start.tzinfo)
            if start <= moment <= end:
                yield moment
        place += months


def _time(moment: dt.datetime, step: dt.timedelta) -> str:
    return f"{moment:%m-%d %H:%M}" if step < DAY else f"{moment.year}-{moment:%m-%d}"


def _date(moment: dt.datetime, months: int) -> str:
    return f"{moment.year}" if months >= YEAR else f"{moment.year}-{moment:%m}"
