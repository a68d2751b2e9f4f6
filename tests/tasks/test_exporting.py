"""Exports by a worker."""

from __future__ import annotations

import datetime as dt
import logging
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from prism_memory import tasks
from prism_memory.governance import export_run
from prism_memory.models import Run
from prism_memory.tasks import running
from prism_memory.types import Scope
from tests.factories import make_memory, remember
from tests.governance.stored import BROKEN, lines, storages
from tests.tasks.conftest import messages

pytestmark = pytest.mark.django_db(transaction=True)

ADAS = Scope("acme", "ada")


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STORAGES = storages(tmp_path)
    return tmp_path


@pytest.fixture
def begun(folder: Path, settings: Any) -> Any:
    """An export that nobody was told of."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "WAKE": False}
    remember(*(f"Text {n}." for n in range(5)), scope=ADAS)
    return make_memory(ADAS).start_export()


def work(state: Any) -> None:
    tasks.export.apply(
        kwargs={"using": "default", "tenant": "acme", "run_id": str(state.id)},
        throw=True,
    )


def test_a_worker_is_told_after_the_commit(queue: str, folder: Path) -> None:
    remember("Words.", scope=ADAS)
    before = messages(queue)
    with transaction.atomic():
        make_memory(ADAS).start_export()
        assert messages(queue) == before
    assert messages(queue) == before + 1
    make_memory(ADAS).start_export()  # it runs already
    assert messages(queue) == before + 1


def test_the_task_writes_it_all(begun: Any, folder: Path) -> None:
    work(begun)
    assert make_memory(ADAS).export_state(begun.id).state == "done"
    assert len(lines(folder)) == 5
    work(begun)  # a message that comes twice
    assert len(lines(folder)) == 5


def test_a_long_export_makes_room_and_asks_to_come_again(
    queue: str, begun: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "slice_seconds", lambda: 0.0)
    monkeypatch.setattr(export_run, "PART_RECORDS", 2)
    monkeypatch.setattr(export_run, "PAGE_ROWS", 2)
    before = messages(queue)
    work(begun)
    assert make_memory(ADAS).export_state(begun.id).state == "running"
    assert messages(queue) == before + 1


def test_an_export_that_was_removed_is_nobodys_work(begun: Any, folder: Path) -> None:
    make_memory(ADAS).delete_export(begun.id)
    work(begun)
    assert lines(folder) == []


def test_a_storage_that_fails_is_logged_without_its_words(
    begun: Any, folder: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.STORAGES = storages(folder, "tests.governance.stored.Faulty")
    BROKEN.clear()
    BROKEN.update(at=1, error=PermissionError("/secret/path"))
    caplog.set_level(logging.INFO, "prism_memory")
    work(begun)
    assert "The storage of exports failed (PermissionError)." in caplog.text
    assert "/secret/path" not in caplog.text
    assert make_memory(ADAS).export_state(begun.id).state == "failed"


def test_what_lost_its_worker_is_taken_up_again(queue: str, begun: Any) -> None:
    before = messages(queue)
    tasks.sweep.apply(kwargs={"work": "runs"}, throw=True)
    assert messages(queue) == before
    runs = Run.objects.filter(tenant="acme", id=begun.id)
    runs.update(heartbeat_at=begun.started_at - dt.timedelta(minutes=11))
    tasks.sweep.apply(kwargs={"work": "runs"}, throw=True)
    assert messages(queue) == before + 1


def test_beat_looks_for_them_and_for_files_that_nobody_names() -> None:
    schedule = tasks.beat_schedule()
    assert schedule["prism-memory-sweep-runs"]["kwargs"] == {"work": "runs"}
    assert schedule["prism-memory-clean-exports"]["task"] == tasks.clean_exports.name
