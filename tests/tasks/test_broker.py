"""A broker that is down, or hangs: the caller notices nothing, and nothing is lost."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager

import pytest
from celery import current_app

from prism_memory import tasks
from prism_memory.tasks import sending
from tests.factories import make_memory
from tests.indexing.conftest import pending
from tests.tasks.conftest import messages, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["closed_port", "silent_port"])
def bad_broker(request, queue, monkeypatch):
    monkeypatch.setattr(sending, "SEND_SECONDS", 0.5)
    port = request.getfixturevalue(request.param)
    with broker(f"redis://127.0.0.1:{port}/0"):
        yield


@contextmanager
def broker(url):
    """Have another broker for a block, and until its last wake-up has failed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELERY_BROKER_URL", url)
        yield
        until(lambda: tasks.sender.flush(1), "the end of the attempts")


@pytest.mark.usefixtures("bad_broker")
def test_remember_neither_fails_nor_waits_and_the_log_says_so(caplog, monkeypatch):
    returned, send = threading.Event(), sending.send_or_log

    def send_later(messages):
        returned.wait(60)
        send(messages)

    monkeypatch.setattr(sending, "send_or_log", send_later)
    with caplog.at_level(logging.WARNING, "prism_memory"):
        assert make_memory().remember("One.").pending
        assert not tasks.sender.flush(0), "it waited for the broker"
        returned.set()
        until(lambda: tasks.sender.flush(1), "the end of the attempts")
    assert "The broker took no wake-up" in caplog.text
    assert "the sweep will do it" in caplog.text
    assert pending().pending == 1


def test_the_sweep_does_what_a_lost_message_left(queue):
    """Beat runs it: see the killed worker in test_worker."""
    with broker("nonsense://127.0.0.1/0"):
        remembered = make_memory().remember(["One.", "Two."])
    assert messages(queue) == 0
    tasks.sweep.apply(throw=True)
    assert messages(queue) == 1
    with current_app.connection_for_read() as connection:
        message = connection.SimpleQueue(queue).get(timeout=10)
        _, task, _ = message.payload
        message.ack()
    tasks.drain.apply(kwargs=task, throw=True)
    assert remembered.done.now().indexed == set(remembered.accepted)


def test_after_a_bad_broker_the_next_wake_up_is_sent(queue, caplog):
    """A URL that names no known kind of broker is bad, too."""
    with broker("nonsense://127.0.0.1/0"):
        make_memory().remember("One.")
    assert "The broker took no wake-up" in caplog.text
    make_memory().remember("Two.")
    assert messages(queue) == 1
