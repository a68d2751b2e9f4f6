"""The task that deletes what policies of retention say (B200)."""

from __future__ import annotations

import logging
import uuid
from typing import Any

import pytest

from prism_memory import tasks
from prism_memory.errors import Conflict
from prism_memory.models import Record, Run
from prism_memory.tasks import retaining
from prism_memory.tasks.sending import Message
from tests.factories import make_scope
from tests.governance.retention.written import make_policy, old

pytestmark = pytest.mark.django_db


def fill() -> None:
    for tenant in ("acme", "globex", "initech"):
        for _ in range(2):
            old(9, scope=make_scope(tenant=tenant))
        if tenant != "initech":
            make_policy(tenant=tenant, max_age_days=1)


def test_every_tenants_policies_are_applied() -> None:
    """B200."""
    fill()
    tasks.retain.apply(throw=True)
    assert {row.tenant for row in Record.objects.all()} == {"initech"}
    assert set(Run.objects.values_list("state", "tenant")) == {
        ("done", "acme"),
        ("done", "globex"),
    }


def test_what_takes_too_long_sends_itself_again(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """B200: to the end, with the cursor saved after each page."""
    fill()
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "RETENTION_BATCH": 1}
    monkeypatch.setattr(retaining, "RETAIN_SECONDS", 0.0)
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(
        Message, "send", lambda message: sent.append(dict(message.kwargs))
    )
    tasks.retain.apply(throw=True)
    while sent:
        tasks.retain.apply(kwargs=sent.pop(), throw=True)
    assert {row.tenant for row in Record.objects.all()} == {"initech"}
    assert Run.objects.count() == 2


def test_the_message_holds_ids_alone() -> None:
    policy_id = uuid.uuid4()
    message = retaining.goes_on(("acme", policy_id))
    assert message.kwargs == {"after": ["acme", str(policy_id)]}


def test_rows_that_others_keep_are_told_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(**given: Any) -> None:
        raise Conflict

    monkeypatch.setattr(retaining, "sweep_all", refuse)
    with caplog.at_level(logging.WARNING, "prism_memory"):
        tasks.retain.apply(throw=True)
    assert "Retention stopped early" in caplog.text


def test_beat_runs_it_every_night() -> None:
    entry = tasks.beat_schedule()["prism-memory-retain"]
    assert entry["task"] == "prism_memory.retain"
