"""What ``manage.py check`` says of a broker."""

from __future__ import annotations

from typing import Any

import pytest
from celery import Celery

from prism_memory import tasks


@pytest.mark.parametrize(
    ("broker", "told"), [(None, ["prism_memory.W010"]), ("memory://", [])]
)
def test_without_a_broker_the_hint_says_who_reads_the_setting(
    monkeypatch: pytest.MonkeyPatch, settings: Any, broker: str | None, told: list[str]
) -> None:
    """CELERY_BROKER_URL may be set, and no app be there that takes it."""
    settings.CELERY_BROKER_URL = "memory://"
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": True}
    app = Celery("host", set_as_current=False, broker=broker)
    monkeypatch.setattr(tasks, "current_app", app)

    found = tasks.check_broker()

    assert [str(warning.id) for warning in found] == told
    assert all("without an app nobody reads" in str(w.hint) for w in found)
