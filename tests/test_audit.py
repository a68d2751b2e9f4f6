from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings

from prism_memory import audit
from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.models import AuditEvent
from prism_memory.types import Actor
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def record(**given: Any) -> None:
    defaults = {
        "using": "default",
        "tenant": "acme",
        "actor": Actor("user:7"),
        "action": "memory.test",
        "target": "record:1",
        "at": NOON,
    }
    audit.record(**{**defaults, **given})


def test_an_event_says_who_did_what_to_which_when_and_why() -> None:
    record(reason="asked for", detail={"refs": 3})

    event = AuditEvent.objects.get(tenant="acme")
    assert (event.actor, event.action, event.target) == (
        "user:7",
        "memory.test",
        "record:1",
    )
    assert (event.at, event.reason, event.detail) == (NOON, "asked for", {"refs": 3})
    assert str(event) == "memory.test record:1"


def test_an_event_ends_with_the_change_it_tells_of() -> None:
    """Written in its transaction: neither is there without the other."""
    with transaction.atomic():
        record()
        transaction.set_rollback(True)
    assert not AuditEvent.objects.exists()


def test_an_act_on_the_installation_has_no_tenant() -> None:
    record(tenant="")
    assert AuditEvent.objects.get().tenant == ""


def test_a_reason_is_a_persons_few_words() -> None:
    record(reason="x" * audit.REASON_CHARACTERS)
    with pytest.raises(LimitExceeded) as raised:
        record(reason="x" * (audit.REASON_CHARACTERS + 1))
    assert raised.value.field == "reason"
    with pytest.raises(Invalid):
        record(reason="a\0")
    assert AuditEvent.objects.count() == 1


def test_a_reason_is_redacted() -> None:
    """B94, B133: whoever gave it, by whatever door."""
    redacting = {"SECRETS": ("hunter2",), "REDACTOR": f"{__name__}.without_numbers"}
    with override_settings(PRISM_MEMORY=redacting):
        record(reason="their password hunter2, card 1234-5678")
    assert AuditEvent.objects.get().reason == "their password [redacted], card <card>"


def without_numbers(text: str) -> str:
    return text.replace("1234-5678", "<card>")


@pytest.mark.parametrize("detail", [{"at": NOON}, {1: "a"}, {"a": "\0"}], ids=repr)
def test_a_detail_that_json_cannot_carry_is_refused(detail: Any) -> None:
    with pytest.raises(Invalid):
        record(detail=detail)
    assert not AuditEvent.objects.exists()
