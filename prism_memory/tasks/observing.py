"""How it runs: a reading kept every five minutes, and what became of each task."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any, Final

from celery import signals as celery_signals
from django.utils import timezone

from prism_memory import metrics, signals
from prism_memory.conf import settings
from prism_memory.tasks.base import task as task_of_app
from prism_memory.tasks.sending import PREFIX

MOST_BEGUN: Final = 1_000
"""Tasks of a process of which it is noted when they began: one that never ends, as its
process was forked again, is forgotten."""


@task_of_app("take_readings")
def take_readings(**kwargs: Any) -> None:
    """Keep how it stands, tenant by tenant, for the admin's charts of the day."""
    metrics.take_readings(using=settings.DATABASE, at=timezone.now())


_begun: OrderedDict[str, float] = OrderedDict()


def on_prerun(*, task_id: str, task: Any, **kwargs: Any) -> None:
    """Note when a task of this app began."""
    if task.name.startswith(PREFIX):
        _begun[task_id] = time.monotonic()
        if len(_begun) > MOST_BEGUN:
            _begun.popitem(last=False)


def on_postrun(*, task_id: str, task: Any, state: str | None, **kwargs: Any) -> None:
    """Tell that it ended, how, and what it took."""
    began = _begun.pop(task_id, None)
    if began is not None:
        signals.task_ended.send_robust(
            sender=type(task),
            task=task.name,
            state=(state or "unknown").lower(),
            seconds=time.monotonic() - began,
        )


def connect_observing() -> None:
    """Listen for the tasks of this process."""
    celery_signals.task_prerun.connect(on_prerun, dispatch_uid=f"{PREFIX}prerun")
    celery_signals.task_postrun.connect(on_postrun, dispatch_uid=f"{PREFIX}postrun")
