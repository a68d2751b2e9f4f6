"""Times as exports write them."""

from __future__ import annotations

import datetime as dt


def moment(at: dt.datetime | None) -> str | None:
    """Return a time as ``YYYY-MM-DDTHH:MM:SS.ffffffZ``."""
    if at is None:
        return None
    utc = at.astimezone(dt.UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='microseconds')}Z"
