"""Long work that can be resumed: who does it, how far it is, how it ended.

No lock is held between two steps. Who takes a run up writes a token of its own into
it, and every step checks that the token still stands: of two processes on one run the
later goes on, and the earlier stops at its next step. A worker leaves a run alone that
another gave a sign of life for lately.
"""

from prism_memory.runs.ending import cancel, failing, finish, retry
from prism_memory.runs.holding import (
    TakenOver,
    advance,
    begin,
    expect,
    rest,
    take_up,
    wait_for_worker,
)
from prism_memory.runs.pausing import back_off_seconds
from prism_memory.runs.progress import done_and_total, per_second, percent
from prism_memory.runs.waiting import (
    BY_WORKERS,
    announce,
    is_silent,
    left_alone,
    silent_since,
)

__all__ = [
    "BY_WORKERS",
    "TakenOver",
    "advance",
    "announce",
    "back_off_seconds",
    "begin",
    "cancel",
    "done_and_total",
    "expect",
    "failing",
    "finish",
    "is_silent",
    "left_alone",
    "per_second",
    "percent",
    "rest",
    "retry",
    "silent_since",
    "take_up",
    "wait_for_worker",
]
