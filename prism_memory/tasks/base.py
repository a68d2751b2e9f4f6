"""What every task shares: its place in the queues, its time limits, its retries.

A message names a tenant and ids, never a text. What a task does it may do twice: the
database says what is left, and each statement names the tenant again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from prism_memory.tasks.sending import PREFIX, routing  # first: it tells of no Celery

# isort: split
from celery import Task, current_app, shared_task
from django.db import InterfaceError, OperationalError

from prism_memory.conf import settings

LONGEST_PAUSE_SECONDS: Final = 600
RETRIES: Final = 5

RETRYING: Final[dict[str, Any]] = {
    "autoretry_for": (OperationalError, InterfaceError),
    "max_retries": RETRIES,
    "retry_backoff": 5,
    "retry_backoff_max": LONGEST_PAUSE_SECONDS,
    "retry_jitter": True,
}
"""Of work that no sweep finds again soon: a database that is away comes back."""


class MemoryTask(Task):  # type: ignore[type-arg] # generic for the type checker alone
    """A task of this app, routed and bounded by the settings."""

    abstract = True
    acks_late = True
    # A worker that is killed is not given the same at once: what kills it would do so
    # for ever. The database knows what is left, and a sweep comes back to it.
    reject_on_worker_lost = False
    ignore_result = True

    @property
    def short_name(self) -> str:
        """The name as the settings write it: without that of the app."""
        return str(self.name).removeprefix(PREFIX)

    @property
    def soft_time_limit(self) -> int:  # type: ignore[override] # read at each run
        """Seconds after which the task is asked to stop (B436)."""
        of_task = settings.TASK_SECONDS_OF
        return int(of_task.get(self.short_name, settings.TASK_SECONDS))

    @property
    def time_limit(self) -> int:  # type: ignore[override] # as above
        """Seconds after which its process is ended."""
        return self.soft_time_limit + settings.TASK_GRACE_SECONDS

    def apply_async(self, *args: Any, **options: Any) -> Any:
        """Send it to the queue, and with the priority, that the settings say."""
        return super().apply_async(*args, **{**routing(self.name), **options})


def task(name: str, **options: Any) -> Callable[[Callable[..., None]], Any]:
    """Make a task of this app of a function."""
    return shared_task(name=PREFIX + name, base=MemoryTask, **options)


def slice_seconds() -> float | None:
    """Return how long a task works for one tenant before it makes room for others.

    None where Celery is eager: nobody waits, and nobody goes on.
    """
    if current_app.conf.task_always_eager:
        return None
    return float(settings.SLICE_SECONDS)
