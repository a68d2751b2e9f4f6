"""Why what a caller waited for is not all embedded."""

from __future__ import annotations

from typing import Final

from prism_memory.indexing import Indexed

OUT_OF_TIME: Final = "WAIT_SECONDS are over; the rest is embedded later."


def why_pending(state: Indexed, outage: str) -> str:
    """Return a reason, or nothing where none is pending.

    Args:
        outage: Why the embedder stopped, or empty.
    """
    late = OUT_OF_TIME if state.pending - state.errors.keys() else ""
    reasons = [outage, late, *state.errors.values()] if state.pending else []
    return next(filter(None, reasons), "")
