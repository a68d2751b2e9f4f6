"""Dates in words, as people write and ask for them; no locale has a say."""

from __future__ import annotations

import datetime as dt
from typing import Final

MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def date_in_words(at: dt.datetime) -> str:
    """Return ``8 May 2023``, whatever the locale."""
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}"
