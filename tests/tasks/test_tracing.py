"""What recalls leave behind is written in the background, or not at all."""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from typing import Any

import pytest
from celery import current_app
from django.db import connection, transaction
from django.utils import timezone

from prism_memory import lifecycle, tasks
from prism_memory.models import RecallTrace, Reinforcement
from prism_memory.tasks import sending
from prism_memory.tasks.tracing import messages as messages_of
from tests.factories import NOON, make_memory, make_scope, make_trace, remember
from tests.swept import sweep
from tests.tasks.conftest import PATIENT_SECONDS, messages, until, worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _traces_are_on(settings: Any) -> None:
    wish = {"WAKE": False, "TRACES": "on"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish
    sending._loss_told.clear()


@pytest.fixture
def eager(closed_port: int) -> Any:
    """Celery runs tasks at once; there is no broker."""
    current_app.conf.task_always_eager = True
    with broker(f"redis://127.0.0.1:{closed_port}/0"):
        yield
    current_app.conf.task_always_eager = False


@contextmanager
def broker(url: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELERY_BROKER_URL", url)
        yield
        until(lambda: tasks.sender.flush(1), "the end of the attempts")


def ask(*, reinforce: bool = True) -> list[Any]:
    """Recall; return the ids of the hits."""
    return [
        hit.id for hit in make_memory().recall("tea", legs="text", reinforce=reinforce)
    ]


def strengths() -> dict[Any, int]:
    return {row.record_id: row.recalls for row in Reinforcement.objects.all()}


def test_a_recall_sends_its_trace_and_its_strengthening(queue: str) -> None:
    """B430: queued, never written inside the read."""
    remember("Ada drinks tea.")
    ask()
    assert messages(queue) == 2
    assert (RecallTrace.objects.count(), strengths()) == (0, {})


def test_nothing_is_sent_unless_it_is_wished_for(queue: str, settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"TRACES": "off"}
    remember("Ada drinks tea.")
    ask(reinforce=False)
    assert messages(queue) == 0


def test_a_recall_that_found_nothing_strengthens_nothing(queue: str) -> None:
    remember("Bob plays chess.")
    assert ask() == []
    assert messages(queue) == 1


def test_a_message_holds_no_text() -> None:
    (record_id,) = remember("Ada drinks tea.")
    sent = [*messages_of("default", make_trace(record_id), keep=True, strengthen=True)]
    text = json.dumps([message.kwargs for message in sent])
    assert str(record_id) in text
    assert "drinks" not in text


def test_a_worker_writes_both(environment: Any, queue: str) -> None:
    """B430."""
    ids = remember("Ada drinks tea.", "Tea is green.")
    with worker(environment, queue):
        ask()
        until(lambda: len(strengths()) == 2, "the strengthening")
        until(RecallTrace.objects.exists, "the trace")
    assert strengths() == dict.fromkeys(ids, 1)
    row = RecallTrace.objects.get(tenant="acme")
    assert {hit["id"] for hit in row.hits} == {str(i) for i in ids}


@pytest.mark.parametrize("port", ["closed_port", "silent_port"])
def test_a_bad_broker_neither_fails_nor_delays_a_recall_and_is_logged_once(
    request: Any, queue: str, port: str, caplog: Any, monkeypatch: Any
) -> None:
    """B431."""
    monkeypatch.setattr(sending, "SEND_SECONDS", 0.5)
    remember("Ada drinks tea.")
    with (
        caplog.at_level(logging.WARNING, "prism_memory"),
        broker(f"redis://127.0.0.1:{request.getfixturevalue(port)}/0"),
    ):
        for _ in range(3):
            assert ask()
            until(lambda: tasks.sender.flush(1), "the end of the attempt")
    assert caplog.text.count("takes no traces and reinforcements") == 1
    assert "no wake-up" not in caplog.text


def test_after_a_bad_broker_a_loss_is_told_again(
    queue: str, caplog: Any, closed_port: int, monkeypatch: Any
) -> None:
    remember("Ada drinks tea.")
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(sending, "SEND_SECONDS", 0.5)
            with broker(f"redis://127.0.0.1:{closed_port}/0"):
                ask()
        ask()
        assert tasks.sender.flush(PATIENT_SECONDS)
    assert caplog.text.count("takes no traces and reinforcements") == 2


def test_notes_never_fill_the_memory_of_a_process(
    queue: str, caplog: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sending, "NOTES_AT_MOST", 3)
    with tasks.sender._changed:  # the sender waits for this
        for _ in range(5):
            (note,) = messages_of("default", make_trace(), keep=True, strengthen=False)
            tasks.sender.post(note)
        tasks.sender.post(tasks.draining.wake_up("acme", "default", "default"))
    assert messages(queue) == 4  # a wake-up is always taken
    assert caplog.text.count("too many wait") == 1


@pytest.mark.usefixtures("eager")
class TestEager:
    def test_it_is_written_at_once_without_a_broker(self) -> None:
        ids = remember("Ada drinks tea.")
        ask()
        assert strengths() == dict.fromkeys(ids, 1)
        assert RecallTrace.objects.count() == 1

    def test_a_hosts_transaction_is_left_alone_until_its_commit(self) -> None:
        """B80, B287: it may be read-only."""
        ids = remember("Ada drinks tea.")
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION READ ONLY")
            assert ask() == ids
            assert strengths() == {}
        assert strengths() == dict.fromkeys(ids, 1)

    def test_a_rollback_leaves_nothing(self) -> None:
        remember("Ada drinks tea.")
        with transaction.atomic():
            ask()
            transaction.set_rollback(True)
        assert (RecallTrace.objects.count(), strengths()) == (0, {})

    def test_a_write_that_fails_is_logged_and_fails_no_recall(
        self, caplog: Any, monkeypatch: Any
    ) -> None:
        """B431."""

        def fail(**kwargs: Any) -> None:
            raise RuntimeError

        monkeypatch.setattr(lifecycle, "reinforce", fail)
        monkeypatch.setattr(lifecycle, "write_trace", fail)
        remember("Ada drinks tea.")
        assert ask()
        with transaction.atomic():
            assert ask()
        assert caplog.text.count("RuntimeError") >= 4


def test_beat_prunes_by_the_setting(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"TRACE_DAYS": 7}
    now = timezone.now()
    for tenant in ("acme", "globex"):
        scope = make_scope(tenant=tenant)
        remember("Tea.", scope=scope)
        for at in (NOON, now):
            trace = make_trace(scope=scope, at=at)
            lifecycle.write_trace(using="default", trace=trace)
    sweep("traces")
    left = RecallTrace.objects.values_list("tenant", "at").order_by("tenant")
    assert [*left] == [("acme", now), ("globex", now)]


def test_a_trace_that_comes_twice_is_written_once() -> None:
    remember("Tea.")
    given = {"using": "default", "trace": make_trace().to_json()}
    for _ in range(2):
        tasks.keep_trace.apply(kwargs=given, throw=True)
    assert RecallTrace.objects.count() == 1


def test_a_task_for_another_tenant_strengthens_nothing() -> None:
    """B22, B500."""
    ids = remember("Tea.")
    trace = make_trace(*ids, scope=make_scope(tenant="globex"))
    for message in messages_of("default", trace, keep=True, strengthen=True):
        message.task.apply(kwargs=dict(message.kwargs), throw=True)
    assert (RecallTrace.objects.count(), strengths()) == (0, {})
