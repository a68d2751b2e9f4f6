"""Whether the settings of work in the background fit each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.core import checks

from prism_memory.conf import NAMESPACE, settings

BOUNDS: Final = {"PRIORITIES": (0, 9), "TASK_SECONDS_OF": (1, 86_400)}


def check_work(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report what no task can be routed or bounded by, and slices without room."""
    return [*_queues(), *_numbers(), *_slices()]


def _queues() -> Iterator[checks.CheckMessage]:
    given: object = settings.QUEUES
    for name, queue in given.items() if isinstance(given, Mapping) else ():
        if not isinstance(queue, str) or not queue:
            yield checks.Error(
                f"{NAMESPACE}['QUEUES'][{name!r}] must name a queue.",
                id="prism_memory.E091",
            )


def _numbers() -> Iterator[checks.CheckMessage]:
    for setting, (low, high) in BOUNDS.items():
        given: object = getattr(settings, setting)
        for name, value in given.items() if isinstance(given, Mapping) else ():
            if type(value) is not int or not low <= value <= high:
                yield checks.Error(
                    f"{NAMESPACE}[{setting!r}][{name!r}] must be in {low}..{high}.",
                    id="prism_memory.E092",
                )


def _slices() -> Iterator[checks.CheckMessage]:
    slices, most = settings.SLICE_SECONDS, settings.TASK_SECONDS
    if type(slices) is type(most) is int and slices >= most:
        yield checks.Warning(
            f"{NAMESPACE}['TASK_SECONDS'] is not over SLICE_SECONDS: tasks are stopped"
            " before their slice ends.",
            id="prism_memory.W093",
        )
