"""A queue of this test alone on the real broker, and workers over it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from celery import current_app

from example_project.embedded import CHECKOUT
from prism_memory import tasks
from prism_memory.tasks import sending
from tests.embedders import Calls

TIMEOUT_SECONDS = 120
PATIENT_SECONDS = 60.0
"""How long a broker that works may take while the machine is busy."""


def until(holds: Callable[[], Any], what: str) -> Any:
    """Poll until it holds; return what it returned."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while not (found := holds()):
        assert time.monotonic() < end, f"never came: {what}"
        time.sleep(0.05)
    return found


@pytest.fixture(autouse=True)
def _own_pool() -> Iterator[None]:
    """Forget the pool of Celery: it is of the first broker asked, also a bad one."""
    yield
    vars(current_app.amqp).pop("_producer_pool", None)


@pytest.fixture
def queue(settings, monkeypatch) -> Iterator[str]:
    """The name of a queue that only this test uses; messages left in it are removed."""
    name = f"test-{uuid.uuid4()}"
    monkeypatch.setattr(sending, "SEND_SECONDS", PATIENT_SECONDS)
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "QUEUE": name}
    yield name
    tasks.sender.flush(PATIENT_SECONDS)
    with current_app.connection_for_write() as connection:
        redis_of(connection).delete(name)


def redis_of(connection: Any) -> Any:
    return connection.default_channel.client


def messages(queue: str) -> int:
    """Return how many messages wait in a queue, once all is sent."""
    assert tasks.sender.flush(PATIENT_SECONDS)
    with current_app.connection_for_read() as connection:
        return int(redis_of(connection).llen(queue))


@pytest.fixture
def calls(tmp_path: Path) -> Calls:
    return Calls(tmp_path / "calls")


@pytest.fixture
def environment(
    child_environment: dict[str, str], queue: str, calls: Calls
) -> dict[str, str]:
    """Of a process that drains this test's queue, and notes what it embeds."""
    return child_environment | {
        "DJANGO_SETTINGS_MODULE": "tests.settings_worker",
        "PRISM_TEST_CALLS": str(calls.path),
        "PRISM_TEST_QUEUE": queue,
    }


@contextmanager
def worker(
    environment: dict[str, str], queue: str, *more: str, pool: str = "solo"
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a real worker over this test's queue; end it by its own process group."""
    command = [sys.executable, "-m", "celery", "-A", "example_project", "worker"]
    options = ["-l", "warning", "--pool", pool, "-c", "1", "-Q", queue]
    options += ["--without-gossip", "--without-mingle", "-n", f"{uuid.uuid4()}@test"]
    process = subprocess.Popen(
        [*command, *options, *more],
        cwd=CHECKOUT,
        env=environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and its children outright."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)


@pytest.fixture
def silent_port() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port where nobody listens, nor can while it is held."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def run_script(
    script: str, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a few lines of Python in a process of their own, to their end."""
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
