"""Generations over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.models import AuditEvent, Record
from tests.api.conftest import Caller, refused
from tests.api.test_openapi import validator

pytestmark = pytest.mark.django_db


def choose(caller: Caller, generation: Any) -> Any:
    body = {"generation": generation, "reason": "new texts"}
    return caller.request("PUT", "generations", body)


def test_a_generation_is_chosen_and_rolled_back(
    alice: Caller, bob: Caller, carol: Caller
) -> None:
    """B209, B210: of exactly the caller's scope."""
    for number in (1, 2):
        record_id = alice.remember(f"tea {number}")
        Record.objects.filter(tenant="acme", id=record_id).update(generation=number)
    assert choose(alice, 1).json() == {"before": None}
    assert choose(alice, 2).json() == {"before": 1}
    assert alice.recalls("tea") == ["tea 2"]
    assert choose(alice, 1).json() == {"before": 2}
    assert alice.recalls("tea") == ["tea 1"]
    page = alice.get("generations").json()
    validator("GenerationsOutput").validate(page)
    items = [{"generation": 1, "records": 1}, {"generation": 2, "records": 1}]
    assert page == {"current": 1, "items": items}
    for stranger in (bob, carol, alice.sends(thread="t1")):
        assert stranger.get("generations").json() == {"current": None, "items": []}
    event = AuditEvent.objects.filter(action="scope.set_generation").first()
    assert event is not None
    assert event.reason == "new texts"


@pytest.mark.parametrize("wrong", [-1, 1.5, "1", True, 2**31])
def test_what_is_no_generation_is_refused(alice: Caller, wrong: Any) -> None:
    """B210."""
    answer = choose(alice, wrong)
    assert answer.status_code in (400, 422)
    code = "validation" if answer.status_code == 400 else "limit"
    refused(answer, answer.status_code, code, "generation")
