"""`make serve`, as a person uses it: started, visited, interrupted."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.request import urlopen

import psutil
import pytest

from example_project.embedded import CHECKOUT, Services

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVE = [sys.executable, "-m", "example_project.serve", "--port"]


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    for name in ("DATABASE_URL", "CELERY_BROKER_URL"):
        monkeypatch.delenv(name, raising=False)
    services = Services(f"test-serve-{secrets.token_hex(4)}")
    monkeypatch.setenv("PRISM_SERVICES", services.name)
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "example_project.settings")
    yield services
    services.stop()
    shutil.rmtree(services.folder, ignore_errors=True)


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number


@contextlib.contextmanager
def serving(port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Serve, and yield with what was printed once the site was up."""
    process = subprocess.Popen(
        [*SERVE, str(port)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    said = ""
    try:
        for line in process.stdout:
            said += line
            if line.startswith("Ctrl-C stops"):
                break
        yield process, said
    finally:
        if process.poll() is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
        process.communicate()


def test_serve_prints_where_and_how_to_log_in_and_stops_all_it_started(services, port):
    with serving(port) as (process, said):
        assert f"http://127.0.0.1:{port}/admin/" in said
        assert "(admin / " in said
        with urlopen(f"http://127.0.0.1:{port}/", timeout=30) as page:
            assert page.status == 200
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 3

        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0

        assert not any(child.is_running() for child in children)
        assert services.postgres.postmaster() is None
        assert not services.valkey.is_ready()


def test_serve_ends_with_an_error_when_a_part_of_it_ends(services, port):
    with serving(port) as (process, _said):
        worker = next(
            child
            for child in psutil.Process(process.pid).children()
            if "worker" in child.cmdline()
        )
        worker.kill()
        assert process.wait(timeout=60) == 1


def test_a_used_port_is_named_before_anything_starts(services, port):
    with socket.create_server(("127.0.0.1", port)):
        done = subprocess.run(
            [*SERVE, str(port)],
            cwd=CHECKOUT,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ,
        )
    assert done.returncode == 1
    assert f"port {port} is not free" in done.stderr
    assert services.postgres.postmaster() is None
