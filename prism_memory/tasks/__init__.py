"""Celery: ids in, one call; and what a commit or a recall sends."""

from __future__ import annotations

import atexit
import os
from typing import Any

from prism_memory.tasks.sending import queue, sender  # first: it tells of no Celery

# isort: split
from celery import current_app
from celery.schedules import crontab
from django.core import checks

from prism_memory.conf import settings
from prism_memory.signals import (
    erasure_wanted,
    export_wanted,
    indexing_wanted,
    resolving_wanted,
    trace_wanted,
)
from prism_memory.tasks.decaying import fade, promote_facts
from prism_memory.tasks.draining import drain, on_indexing_wanted, sweep
from prism_memory.tasks.erasing import erase, on_erasure_wanted, sweep_erasures
from prism_memory.tasks.exporting import export, on_export_wanted, sweep_exports
from prism_memory.tasks.judging import judge_pending
from prism_memory.tasks.observing import connect_observing, take_readings
from prism_memory.tasks.rebuilding import rebuild
from prism_memory.tasks.resolving import (
    on_resolving_wanted,
    resolve_entities,
    sweep_entities,
)
from prism_memory.tasks.retaining import retain
from prism_memory.tasks.sealing import seal
from prism_memory.tasks.tidying import tidy_entities
from prism_memory.tasks.tracing import (
    keep_trace,
    on_trace_wanted,
    prune_traces,
    reinforce,
)

__all__ = [
    "beat_schedule",
    "connect",
    "drain",
    "erase",
    "export",
    "fade",
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
    "sweep_entities",
    "sweep_erasures",
    "sweep_exports",
    "take_readings",
    "tidy_entities",
]


def beat_schedule() -> dict[str, dict[str, Any]]:
    """Return what beat should run, to be merged into the host's own schedule."""
    seconds = float(settings.SWEEP_SECONDS)
    return {
        "prism-memory-sweep": {
            "task": sweep.name,
            "schedule": seconds,
            "options": {"expires": seconds, **queue()},
        },
        "prism-memory-sweep-entities": {
            "task": sweep_entities.name,
            "schedule": seconds,
            "options": {"expires": seconds, **queue()},
        },
        "prism-memory-tidy-entities": {
            "task": tidy_entities.name,
            "schedule": crontab(hour="3", minute="7"),
            "options": {"expires": 86_400.0, **queue()},
        },
        "prism-memory-prune-traces": {
            "task": prune_traces.name,
            # By the clock: a span would begin anew with each restart of beat.
            "schedule": crontab(hour="4", minute="17"),
            "options": {"expires": 86_400.0, **queue()},
        },
        "prism-memory-seal": {
            "task": seal.name,
            "schedule": crontab(minute="7"),
            "options": {"expires": 3_600.0, **queue()},
        },
        "prism-memory-retain": {
            "task": retain.name,
            "schedule": crontab(hour="3", minute="37"),
            "options": {"expires": 86_400.0, **queue()},
        },
        "prism-memory-judge-conflicts": {
            "task": judge_pending.name,
            "schedule": crontab(minute="*/10"),
            "options": {"expires": 600.0, **queue()},
        },
        "prism-memory-decay": {
            "task": fade.name,
            "schedule": crontab(hour="2", minute="47"),
            "options": {"expires": 86_400.0, **queue()},
        },
        "prism-memory-promote": {
            "task": promote_facts.name,
            "schedule": crontab(hour="2", minute="17"),
            "options": {"expires": 86_400.0, **queue()},
        },
        "prism-memory-sweep-erasures": {
            "task": sweep_erasures.name,
            "schedule": crontab(minute="*/5"),
            "options": {"expires": 300.0, **queue()},
        },
        "prism-memory-take-readings": {
            "task": take_readings.name,
            "schedule": crontab(minute="*/5"),
            "options": {"expires": 300.0, **queue()},
        },
        "prism-memory-sweep-exports": {
            "task": sweep_exports.name,
            "schedule": crontab(minute="*/15"),
            "options": {"expires": 900.0, **queue()},
        },
    }


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
    export_wanted.connect(
        on_export_wanted, dispatch_uid="prism_memory.on_export_wanted"
    )
    erasure_wanted.connect(
        on_erasure_wanted, dispatch_uid="prism_memory.on_erasure_wanted"
    )
    resolving_wanted.connect(
        on_resolving_wanted, dispatch_uid="prism_memory.on_resolving_wanted"
    )
    trace_wanted.connect(on_trace_wanted, dispatch_uid="prism_memory.on_trace_wanted")
    connect_observing()
    checks.register(check_broker)
    os.register_at_fork(after_in_child=sender.reset)
    atexit.register(sender.flush)
