"""Settings of work in the background that no worker could keep to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError

from prism_memory.checks import check_work
from prism_memory.management import doctoring
from prism_memory.types.findings import Finding


def ids(settings: Any, **given: Any) -> list[str | None]:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **given}
    return [one.id for one in check_work()]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"QUEUES": {"rebuild": 7}}, ["prism_memory.E091"]),
        ({"PRIORITIES": {"rebuild": 99, "erase": True}}, ["prism_memory.E092"] * 2),
        ({"TASK_SECONDS_OF": {"seal": 0, "fill": "x"}}, ["prism_memory.E092"] * 2),
        ({"TASK_SECONDS": 5, "SLICE_SECONDS": 3_600}, ["prism_memory.W093"]),
    ],
    ids=str,
)
def test_odd_settings_are_told(settings: Any, given: Any, told: Any) -> None:
    assert ids(settings, **given) == told


def test_a_cure_that_the_database_refuses_stops_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cure(*, using: str, finding: Finding) -> int:
        if finding.kind == "first":
            raise OperationalError
        return 1

    found = [Finding("first", "", "x"), Finding("second", "", "y")]
    part = SimpleNamespace(examine=lambda **_given: found, cure=cure)
    monkeypatch.setitem(doctoring.PARTS, "odd", part)

    seen = doctoring.look(using="default", names=["odd"], tenants=[], fix=True)
    assert [(one.cured, one.error) for one in seen] == [
        (None, "OperationalError"),
        (1, ""),
    ]
