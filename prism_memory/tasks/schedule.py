"""What beat runs, and when."""

from __future__ import annotations

from typing import Any

from celery.schedules import crontab

from prism_memory.conf import settings
from prism_memory.tasks.cleaning import clean_exports
from prism_memory.tasks.following import follow_embedders
from prism_memory.tasks.observing import take_readings
from prism_memory.tasks.sending import routing
from prism_memory.tasks.sweeping import DAY, sweep


def beat_schedule() -> dict[str, dict[str, Any]]:
    """Return what beat should run, to be merged into the host's own schedule.

    Nightly work is told by the clock: a span would begin anew with each restart.
    """
    often = float(settings.SWEEP_SECONDS)
    return {
        "prism-memory-sweep": _sweep("drains", often, often),
        "prism-memory-sweep-runs": _sweep("runs", often, often),
        "prism-memory-sweep-fills": _sweep("fills", crontab(minute="*/5"), 300.0),
        "prism-memory-follow-embedders": _alone(follow_embedders, 5),
        "prism-memory-sweep-entities": _sweep("entities", often, often),
        "prism-memory-promote": _nightly("promotions", 2, 17),
        "prism-memory-decay": _nightly("decay", 2, 47),
        "prism-memory-tidy-entities": _nightly("unspoken", 3, 7),
        "prism-memory-retain": _nightly("retention", 3, 37),
        "prism-memory-prune-traces": _nightly("traces", 4, 17),
        "prism-memory-seal": _sweep("seals", crontab(minute="7"), 3_600.0),
        "prism-memory-judge-conflicts": _sweep(
            "conflicts", crontab(minute="*/10"), 600.0
        ),
        "prism-memory-clean-exports": _alone(clean_exports, 15),
        "prism-memory-take-readings": _alone(take_readings, 5),
    }


def _alone(task: Any, minutes: int) -> dict[str, Any]:
    return {
        "task": task.name,
        "schedule": crontab(minute=f"*/{minutes}"),
        "options": {"expires": 60.0 * minutes, **routing(task.name)},
    }


def _nightly(work: str, hour: int, minute: int) -> dict[str, Any]:
    return _sweep(work, crontab(hour=str(hour), minute=str(minute)), DAY)


def _sweep(work: str, schedule: Any, expires: float) -> dict[str, Any]:
    return {
        "task": sweep.name,
        "kwargs": {"work": work},
        "schedule": schedule,
        "options": {"expires": expires, **routing(sweep.name)},
    }
