"""The task that seals what all tenants' audits say."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from prism_memory import tasks
from prism_memory.models import AuditSeal
from tests.factories import make_scope, remember_one
from tests.governance.trail import act, run, wrongs
from tests.swept import sweep

pytestmark = pytest.mark.django_db


def use(settings: Any, seals: str) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "SEALS": seals}


def seals() -> list[tuple[str, int]]:
    rows = AuditSeal.objects.order_by("tenant", "number")
    return list(rows.values_list("tenant", "events"))


def test_seals_the_trail_of_every_tenant(settings: Any) -> None:
    """B500."""
    remember_one()
    remember_one(scope=make_scope(tenant="beta"))
    for tenant in ("acme", "beta", ""):
        act(2, tenant=tenant)
    sweep("seals")
    assert seals() == [("", 2), ("acme", 2), ("beta", 2)]
    sweep("seals")
    assert len(seals()) == 3
    assert not AuditSeal.objects.filter(content__isnull=False).exists()


def test_seals_nothing_when_off(settings: Any) -> None:
    use(settings, "off")
    remember_one()
    act(2)
    sweep("seals")
    assert not seals()


def test_seals_content_and_logs_what_vanished(
    settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    use(settings, "content")
    record_id = remember_one("the secret words")
    sweep("seals")
    assert not caplog.records
    run("DELETE FROM prism_memory_embedding")
    run("DELETE FROM prism_memory_record")
    with caplog.at_level(logging.ERROR, "prism_memory"):
        sweep("seals")
    assert f"record:{record_id}" in caplog.text
    assert "secret" not in caplog.text
    assert not wrongs(content=True)


def test_beat_runs_it_every_hour(settings: Any) -> None:
    entry = tasks.beat_schedule()["prism-memory-seal"]
    assert entry["kwargs"] == {"work": "seals"}
    assert entry["schedule"].minute == {7}
