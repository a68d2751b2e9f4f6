"""Celery: ids in, one call; and what a commit or a recall sends."""

from __future__ import annotations

import atexit
import os
from typing import Any

from prism_memory.tasks.sending import sender  # first: it tells of no Celery

# isort: split
from celery import current_app
from celery.exceptions import SoftTimeLimitExceeded
from django.core import checks

from prism_memory import backends
from prism_memory.conf import settings
from prism_memory.signals import (
    indexing_wanted,
    resolving_wanted,
    run_wanted,
    trace_wanted,
)
from prism_memory.tasks.cleaning import clean_exports
from prism_memory.tasks.draining import drain, on_indexing_wanted
from prism_memory.tasks.following import follow_embedders
from prism_memory.tasks.judging import judge_pending
from prism_memory.tasks.observing import connect_observing, take_readings
from prism_memory.tasks.promoting import promote_facts
from prism_memory.tasks.resolving import on_resolving_wanted, resolve_entities
from prism_memory.tasks.running import (
    erase,
    export,
    fade,
    fill,
    on_run_wanted,
    rebuild,
    retain,
)
from prism_memory.tasks.schedule import beat_schedule
from prism_memory.tasks.sealing import seal
from prism_memory.tasks.sweeping import sweep
from prism_memory.tasks.tidying import tidy_entities
from prism_memory.tasks.tracing import (
    keep_trace,
    on_trace_wanted,
    prune_traces,
    reinforce,
)

__all__ = [
    "beat_schedule",
    "clean_exports",
    "connect",
    "drain",
    "erase",
    "export",
    "fade",
    "fill",
    "follow_embedders",
    "judge_pending",
    "keep_trace",
    "promote_facts",
    "prune_traces",
    "rebuild",
    "reinforce",
    "resolve_entities",
    "retain",
    "seal",
    "sender",
    "sweep",
    "take_readings",
    "tidy_entities",
]


def check_broker(**kwargs: Any) -> list[checks.CheckMessage]:
    """Warn when messages are to be sent but Celery knows no broker."""
    conf = current_app.conf
    wanted = settings.WAKE or settings.TRACES != "off"
    if not wanted or conf.task_always_eager or conf.broker_url:
        return []
    return [
        checks.Warning(
            "Celery has no broker, so nothing wakes a worker.",
            hint="Give the project's Celery app a broker, and import the app in the"
            " project's __init__.py: without an app nobody reads CELERY_BROKER_URL. Or"
            " set PRISM_MEMORY['WAKE'] to False and run prism_memory_index drain;"
            " traces need a broker.",
            id="prism_memory.W010",
        )
    ]


def connect() -> None:
    """Listen for commits and recalls, from the app's ``ready``."""
    indexing_wanted.connect(
        on_indexing_wanted, dispatch_uid="prism_memory.on_indexing_wanted"
    )
    run_wanted.connect(on_run_wanted, dispatch_uid="prism_memory.on_run_wanted")
    resolving_wanted.connect(
        on_resolving_wanted, dispatch_uid="prism_memory.on_resolving_wanted"
    )
    trace_wanted.connect(on_trace_wanted, dispatch_uid="prism_memory.on_trace_wanted")
    # A backend that hangs is one that did not answer, and no text's fault.
    backends.count_as_outage(SoftTimeLimitExceeded)
    connect_observing()
    checks.register(check_broker)
    os.register_at_fork(after_in_child=sender.reset)
    atexit.register(sender.flush)
