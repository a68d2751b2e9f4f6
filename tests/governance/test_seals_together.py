"""Seals beside writers, other sealers and pruners, with real commits."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from prism_memory import audit, governance, lifecycle
from prism_memory.db.tenancy import guard
from prism_memory.models import AuditEvent, AuditSeal
from prism_memory.types import Actor
from tests.factories import NOON, make_memory, make_scope, remember
from tests.governance.trail import GONE, KEYS, act, run, seal, verify, wrongs
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)


def test_many_who_seal_at_once_make_one_chain() -> None:
    act(40)

    def work(number: int) -> None:
        act(5)
        seal(most=7)
        act(5)
        seal(most=7)

    together([partial(work, number) for number in range(6)])
    seal()
    assert not wrongs()
    rows = AuditSeal.objects.filter(tenant="acme").order_by("number")
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert sum(row.events for row in rows) == 100


def test_a_writer_does_not_wait_for_a_sealer() -> None:
    """And what it commits late comes under the next seal."""
    act(1)
    with transaction.atomic():
        act(1)  # not committed yet, and its id is the oldest that is open
        (made,) = together([partial(seal)])[0]
        assert made.events == 1
    act(1)
    (made,) = seal()
    assert (made.number, made.events) == (2, 2)
    assert not wrongs()


def test_a_look_sees_one_moment() -> None:
    """What is sealed and pruned meanwhile is no edit."""
    for _ in range(6):
        act(20)
        seal()

    def grow() -> None:
        for _ in range(5):
            act(20)
            seal()

    def prune() -> None:
        governance.prune(
            using="default",
            tenant="acme",
            older_than_days=1,
            actor=Actor(),
            at=NOON + GONE,
            most=20,
        )

    def look() -> list[Any]:
        return [verify().findings.listed for _ in range(8)]

    found = together([grow, prune, look, look])
    assert not [one for each in found[2:] for listed in each for one in listed]
    assert not wrongs()


def test_a_pruning_that_fails_midway_leaves_whole_seals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(3):
        act(4)
        seal()
    calls: list[int] = []
    real = audit.record

    def failing(**given: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError
        real(**given)

    monkeypatch.setattr("prism_memory.audit.record", failing)
    with pytest.raises(ZeroDivisionError):
        governance.prune(
            using="default",
            tenant="acme",
            older_than_days=1,
            actor=Actor(),
            at=NOON + GONE,
            most=4,
        )
    monkeypatch.undo()
    assert verify().pruned_through == 1
    assert not wrongs()


def write(number: int) -> None:
    for each in range(5):
        remember(f"Writer {number} says {each}.")


def forget(ids: list[uuid.UUID]) -> None:
    for record_id in ids:
        lifecycle.forget(
            using="default",
            scope=make_scope(),
            actor=Actor(),
            ids=[record_id],
            at=timezone.now(),
        )


def correct(ids: list[uuid.UUID]) -> None:
    for record_id in ids:
        make_memory().correct(record_id, f"Corrected {record_id}.")


def take() -> None:
    for _ in range(5):
        made = seal(content=True, at=timezone.now())
        assert not sum(one.violations for one in made)


def test_content_is_sealed_beside_those_who_write_and_forget(settings: Any) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "INTEGRITY_KEYS": KEYS}
    ids = remember(*(f"Text {n}." for n in range(60)))
    work: list[Any] = [partial(write, 1), partial(write, 2), take, take]
    together([*work, partial(forget, ids[:20]), partial(correct, ids[20:30])])
    take()
    assert not wrongs(content=True)


def test_a_look_begins_its_moment_before_anything_is_asked() -> None:
    """Also where each statement is told the tenant first, for row-level security."""
    act(3)
    seal()
    with connection.execute_wrapper(guard):
        assert not wrongs(content=True)
        assert seal() == ()


def test_a_look_writes_nothing() -> None:
    act(3)
    seal()
    before = list(AuditEvent.objects.values())
    with connection.execute_wrapper(refuse_writes):
        verify(content=True)
    assert list(AuditEvent.objects.values()) == before
    assert run("SELECT 1") == 1


def refuse_writes(execute: Any, sql: Any, params: Any, many: Any, context: Any) -> Any:
    assert not str(sql).lstrip().upper().startswith(("UPDATE", "INSERT", "DELETE"))
    return execute(sql, params, many, context)
