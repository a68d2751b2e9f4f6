"""Erasures in the background: started, resumed, told once."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from prism_memory import tasks
from prism_memory.governance import erasure
from prism_memory.models import ErasureReceipt, Record, Run
from prism_memory.tasks import sending
from prism_memory.types import Scope
from tests.factories import make_memory, remember, remember_one
from tests.governance.erasing import ADA, CHAT, erase

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would go to the broker."""
    messages: list[Any] = []
    monkeypatch.setattr(sending.sender, "post", messages.append)
    monkeypatch.setattr(sending.Message, "send", lambda self: messages.append(self))
    return messages


def work(message: Any) -> None:
    message.task(**message.kwargs)


def test_a_scope_is_erased_by_the_task(sent, django_capture_on_commit_callbacks):
    remember("a", "b", scope=CHAT)
    memory = make_memory(ADA)
    with django_capture_on_commit_callbacks(execute=True):
        state = memory.start_erasure(reason="asked")
    assert state.state == "running"
    (message,) = sent
    assert set(message.kwargs) == {"using", "tenant", "run_id", "ticket"}
    work(message)
    done = memory.erasure_state(state.id)
    assert done.receipt is not None
    assert (done.state, done.receipt.records) == ("done", 2)
    work(message)  # again: nothing to do
    assert ErasureReceipt.objects.count() == 1


def test_started_twice_it_is_one(sent, django_capture_on_commit_callbacks):
    remember_one(scope=CHAT)
    with django_capture_on_commit_callbacks(execute=True):
        first = make_memory(ADA).start_erasure()
        second = make_memory(ADA).start_erasure()
    assert first.id == second.id
    for message in sent:
        work(message)
    assert Run.objects.count() == ErasureReceipt.objects.count() == 1


def test_eager_celery_does_it_at_once(settings, django_capture_on_commit_callbacks):
    remember_one(scope=CHAT)
    current_app.conf.task_always_eager = True
    try:
        with django_capture_on_commit_callbacks(execute=True):
            state = make_memory(ADA).start_erasure()
    finally:
        current_app.conf.task_always_eager = False
    assert make_memory(ADA).erasure_state(state.id).state == "done"
    assert not Record.objects.exists()


def test_one_whose_worker_is_lost_is_found(sent):
    remember_one(scope=CHAT)
    state = make_memory(ADA).start_erasure()
    tasks.sweep(work="runs")
    assert sent == []
    Run.objects.update(heartbeat_at=timezone.now() - dt.timedelta(minutes=6))
    tasks.sweep(work="runs")
    (message,) = sent
    work(message)
    assert make_memory(ADA).erasure_state(state.id).state == "done"


def test_one_whose_target_a_wider_erasure_took_ends_with_its_receipt(sent):
    remember_one(scope=CHAT)
    state = make_memory(CHAT).start_erasure()
    erase(Scope("acme"))
    erasure.resume_erasure(using="default", tenant="acme", run_id=state.id)
    done = make_memory(CHAT).erasure_state(state.id)
    assert done.receipt is not None
    assert (done.state, done.receipt.records) == ("done", 0)


def test_nothing_to_erase_is_done_without_a_run(sent):
    state = make_memory(ADA).start_erasure()
    assert state.receipt is not None
    assert (state.state, state.receipt.found) == ("done", False)
    assert not Run.objects.exists()
    assert make_memory(ADA).erasure_state(state.id).receipt == state.receipt
