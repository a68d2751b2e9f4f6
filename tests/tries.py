"""How many examples a property is tried on: few each time, many in ``make soak``."""

from __future__ import annotations

import os


def examples(few: int) -> int:
    """Return that many, or ``PRISM_SOAK`` times as many."""
    return few * int(os.environ.get("PRISM_SOAK", "1"))
