"""Beat and a worker in one: a sweep, and all that its messages lead to."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from prism_memory import tasks
from prism_memory.tasks.sending import Message


def sweep(work: str) -> list[Message]:
    """Have every tenant looked at, and do what is sent, in order; return it all."""
    seen: list[Message] = []
    waiting: deque[Message] = deque()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Message, "send", lambda self, _connection=None: waiting.append(self)
        )
        tasks.sweep.apply(kwargs={"work": work}, throw=True)
        while waiting:
            message = waiting.popleft()
            seen.append(message)
            run(message)
    return seen


def run(message: Any) -> None:
    """Do what one message asks for."""
    message.task.apply(kwargs=dict(message.kwargs), throw=True)
