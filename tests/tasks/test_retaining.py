"""The task that deletes what policies of retention say (B200)."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import tasks
from prism_memory.errors import Conflict
from prism_memory.governance import retention
from prism_memory.governance.retention import resume
from prism_memory.models import Record, RetentionPolicy, Run
from prism_memory.tasks import running
from prism_memory.types import Actor
from tests.factories import make_scope
from tests.governance.retention.written import make_policy, old
from tests.swept import sweep

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
    sweep("retention")
    assert {row.tenant for row in Record.objects.all()} == {"initech"}
    assert set(Run.objects.values_list("state", "tenant")) == {
        ("done", "acme"),
        ("done", "globex"),
    }


def test_what_takes_too_long_goes_on_after_the_others(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """B200: to the end, with the cursor saved after each page, turn by turn."""
    fill()
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "RETENTION_BATCH": 1}
    monkeypatch.setattr(running, "slice_seconds", lambda: 0.0)
    sent = [message.kwargs["tenant"] for message in sweep("retention")]
    assert sent[:2] == sent[2:4] != sent[:1] * 2  # nobody twice before the other
    assert {row.tenant for row in Record.objects.all()} == {"initech"}
    assert Run.objects.count() == 2


def test_a_sweep_whose_policy_is_gone_is_cancelled() -> None:
    fill()
    policy = RetentionPolicy.objects.get(tenant="acme")
    (run,) = retention.start_sweeps(
        using="default", tenant="acme", actor=Actor(), at=timezone.now()
    )
    policy.delete()
    given = {"using": "default", "tenant": "acme", "run_id": str(run.id)}
    tasks.retain.apply(kwargs=given, throw=True)
    run.refresh_from_db()
    assert (run.state, run.next_try_at) == ("cancelled", None)
    assert Record.objects.filter(tenant="acme").count() == 2


def test_rows_that_others_keep_are_told_and_tried_again_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(**given: Any) -> None:
        raise Conflict

    fill()
    monkeypatch.setattr(resume, "work_on", refuse)
    with caplog.at_level(logging.WARNING, "prism_memory"):
        sweep("retention")
    assert "(retention) stopped: conflict" in caplog.text
    assert [run.next_try_at is not None for run in Run.objects.all()] == [True, True]
    monkeypatch.undo()
    assert sweep("runs") == []
    Run.objects.update(next_try_at=timezone.now())
    sweep("runs")
    assert not Record.objects.exclude(tenant="initech").exists()


def test_beat_runs_it_every_night() -> None:
    entry = tasks.beat_schedule()["prism-memory-retain"]
    assert entry["kwargs"] == {"work": "retention"}
