"""How far a run is, in parts of a hundred, and how fast it goes."""

from __future__ import annotations

from typing import Final

from prism_memory.models import Run
from prism_memory.models.choices import RunState

DONE: Final = {
    "import": "entries",
    "rebuild": "rebuilt",
    "fill": "filled",
    "situate": "seen",
    "export": "scopes",
    "retention": "scopes",
    "decay": "scopes",
    "erase": "prism_memory_record",
    "sign": "signed",
}
"""Which of a kind's counts says how much is done, where none is called so."""


def done_and_total(run: Run) -> tuple[int, int | None]:
    """Return how much is done, and of how much; None where nobody counted."""
    done = run.counts.get("done", run.counts.get(DONE.get(run.kind, ""), 0))
    total = run.counts.get("total", run.cursor.get("total"))
    return int(done), None if total is None else int(total)


def percent(run: Run) -> float | None:
    """Return 0..100, or None where nobody counted what there is to do."""
    if run.state == RunState.DONE:
        return 100.0
    done, total = done_and_total(run)
    if total is None:
        return None
    # What came after it began is done too, and was not counted.
    return 100.0 * min(done, total) / total if total else 0.0


def per_second(run: Run) -> float | None:
    """Return how much was done a second since it was last taken up; None: not known."""
    if run.taken_up_at is None:
        return None
    until = run.finished_at or run.heartbeat_at
    seconds = (until - run.taken_up_at).total_seconds()
    done, _ = done_and_total(run)
    return (done - run.done_before) / seconds if seconds > 0 else None
