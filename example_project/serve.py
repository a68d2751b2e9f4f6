"""``make serve``: the site, a worker and beat, stopped together.

Every child is the leader of its own session, so that a Ctrl-C in the terminal reaches
this process alone and the children are ended in order.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import django
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connections
from django.urls import reverse

from example_project.embedded import (
    CHECKOUT,
    ServiceError,
    Services,
    kept_secret,
)
from example_project.reach import reach_broker, reach_database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

HOST = "127.0.0.1"
ADMIN = "admin"
STOP_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Child:
    """A process that this one started."""

    name: str
    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, name: str, *words: str) -> Child:
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        return cls(name, process)

    def ask_to_stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()

    def wait_or_kill(self, deadline: float) -> None:
        """Wait until ``deadline``, then kill what is left of its session."""
        try:
            self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class StopRequested(BaseException):
    """Somebody asked this process to end; not an error."""


def main(arguments: list[str] | None = None) -> int:
    """Serve until stopped. 0 when asked to stop, 1 when a part ended by itself."""
    parser = argparse.ArgumentParser(prog="python -m example_project.serve")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args(arguments)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")
    _refuse_used_port(options.port)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _request_stop)
    try:
        return _serve(options.port)
    except StopRequested:
        print("\nStopped.", flush=True)
        return 0


def _serve(port: int) -> int:
    print("Starting PostgreSQL and the broker …", flush=True)
    with Services().running():
        django.setup()
        reach_database()
        reach_broker()
        call_command("migrate", verbosity=0)
        login = _admin_login()
        connections.close_all()
        with _children(port) as children:
            if _site_answers(port, children):
                _print_addresses(port, login)
            ended = _first_to_end(children)
    print(f"The {ended.name} ended by itself (exit {ended.process.returncode}).")
    return 1


@contextlib.contextmanager
def _children(port: int) -> Iterator[list[Child]]:
    children: list[Child] = []
    # As root in a container Celery warns at length; this site is for one laptop.
    quiet = ("-W", "ignore:You're running the worker with superuser")
    celery = (*quiet, "-m", "celery", "--quiet", "-A", "example_project")
    schedule = Services().folder / "celerybeat-schedule"
    try:
        site = ("manage.py", "runserver", "--noreload", f"{HOST}:{port}")
        children.append(Child.start("site", *site))
        worker = (*celery, "worker", "--loglevel=INFO", "--concurrency=1")
        children.append(Child.start("worker", *worker))
        beat = (*celery, "beat", "--loglevel=WARNING", f"--schedule={schedule}")
        children.append(Child.start("beat", *beat, "--pidfile="))
        yield children
    finally:
        _stop(children)


def _stop(children: list[Child]) -> None:
    # A second Ctrl-C must not leave half of them behind.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for child in children:
        child.ask_to_stop()
    deadline = time.monotonic() + STOP_SECONDS
    for child in children:
        child.wait_or_kill(deadline)


def _site_answers(port: int, children: list[Child]) -> bool:
    """Wait for the site; false when a part ended before it came up."""
    while all(child.process.poll() is None for child in children):
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), 1):
            return True
        time.sleep(0.1)
    return False


def _first_to_end(children: list[Child]) -> Child:
    while True:
        for child in children:
            if child.process.poll() is not None:
                return child
        time.sleep(0.2)


def _admin_login() -> str:
    """Make the superuser once; its password is kept in a file only we can read."""
    password = kept_secret("admin-password", bytes_of_entropy=12)
    users = get_user_model().objects
    user = users.filter(username=ADMIN).first()
    if user is None:
        users.create_superuser(ADMIN, "", password)
    elif not user.check_password(password):
        return f"{ADMIN}, with the password it had"
    return f"{ADMIN} / {password}"


def _print_addresses(port: int, login: str) -> None:
    site = f"http://{HOST}:{port}"
    print(
        f"\n  Site    {site}/"
        f"\n  Admin   {site}{reverse('admin:index')}   ({login})"
        f"\n  API     {site}{reverse('prism_memory_api:docs')}"
        "\n\nCtrl-C stops the site, the worker, beat and what they needed.\n",
        flush=True,
    )


def _refuse_used_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            message = f"port {port} is not free ({error.strerror}); try PORT=8001"
            raise ServiceError(message) from error


def _request_stop(_number: int, _frame: FrameType | None) -> None:
    raise StopRequested


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(f"error: {error}") from error
