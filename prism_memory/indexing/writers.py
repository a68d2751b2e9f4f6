"""Wait for those who began to write before a change of the spaces was committed.

Who writes reads the live spaces without a lock, so one that is open may know of fewer
than there are now. Nobody is kept from writing meanwhile.
"""

from __future__ import annotations

import time
from typing import Final

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict

LONGEST_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 0.02


def wait_for_writers(*, using: str, max_seconds: float = LONGEST_SECONDS) -> None:
    """Wait until all have ended who write vectors or queue them now; not the caller.

    Who begins meanwhile is not waited for. A query every 20 ms; no lock is taken.

    Raises:
        Conflict: Some are still open after that time.
    """
    end = time.monotonic() + max_seconds
    open_still = _writers(using)
    while open_still:
        if time.monotonic() > end:
            message = (
                f"{len(open_still)} transactions that write vectors are open for"
                f" {max_seconds:g} seconds already; do it again when they have ended."
            )
            raise Conflict(message, field="alias")
        time.sleep(PAUSE_SECONDS)
        open_still &= _writers(using)


def _writers(using: str) -> set[str]:
    rows = queries.fetch(using, named("indexing")["writers"], {})
    return {str(row["writer"]) for row in rows}
