"""Tasks are counted, and one of them keeps how it stands."""

from __future__ import annotations

from typing import Any

import pytest
from celery import shared_task

from prism_memory import checks, metrics, tasks
from prism_memory.models import Reading
from prism_memory.tasks import observing
from prism_memory.types import Scope
from tests.factories import make_memory
from tests.metrics.shown import value

pytestmark = pytest.mark.django_db


@shared_task(name="of_the_host.task")
def of_the_host() -> None:
    """No task of ours."""


@shared_task(name="prism_memory.that_fails")
def that_fails() -> None:
    raise ZeroDivisionError


def shown() -> str:
    return metrics.exposed(using="default").decode()


def counted(task: str, state: str) -> float:
    return value(shown(), "tasks_total", task=task, state=state)


def test_a_task_is_counted_by_how_it_ended_and_a_hosts_is_not() -> None:
    before = counted("prism_memory.take_readings", "success")
    make_memory(Scope("acme")).remember("tea")
    tasks.take_readings.apply().get()
    assert counted("prism_memory.take_readings", "success") == before + 1
    assert Reading.objects.get(tenant="acme").counts["pending"] == 1
    that_fails.apply()
    assert counted("prism_memory.that_fails", "failure") == 1
    of_the_host.apply()
    assert "of_the_host" not in shown()
    assert not observing._begun


def test_what_never_ends_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "MOST_BEGUN", 2)
    for number in range(5):
        observing.on_prerun(task_id=str(number), task=that_fails)
    assert list(observing._begun) == ["3", "4"]
    observing._begun.clear()


def test_a_token_that_is_short_is_told(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"METRICS_TOKEN": "short"}
    assert "prism_memory.E090" in [one.id for one in checks.check_settings()]
