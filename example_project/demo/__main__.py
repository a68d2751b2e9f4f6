"""The command line of the demo."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import fcntl
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.core.management import call_command
from django.db import connections

from example_project.demo import conversations
from example_project.demo.screen import headline, say
from example_project.embedded import ServiceError, Services
from example_project.reach import reach_broker, reach_database
from example_project.serve import StopRequested

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

CONVERSATIONS = 2
STOPPED = 130
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: list[str] | None = None) -> int:
    """Play the demo. 0 when all that was shown held, 1 when not, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m example_project.demo",
        description="Real conversations remembered, indexed by a worker and recalled.",
    )
    parser.add_argument(
        "--data", type=Path, default=None, help="conversations in LoCoMo's form"
    )
    parser.add_argument(
        "--settings", default="example_project.demo.settings", help="settings module"
    )
    options = parser.parse_args(arguments)
    # Not by default only: importing the example's Celery app has named its own.
    os.environ["DJANGO_SETTINGS_MODULE"] = options.settings
    for number in STOPS:
        signal.signal(number, _request_stop)
    try:
        return _play(options.data or conversations.data_file())
    except StopRequested:
        print("\nStopped.", flush=True)
        return STOPPED


def _play(file: Path) -> int:
    print("Starting PostgreSQL and the broker …", flush=True)
    with Services().running() as services, _alone(services):
        django.setup()
        # Only now: its modules import models.
        from example_project.demo.story import Story
        from prism_memory.models import Tenant

        reach_database()
        reach_broker()
        call_command("migrate", verbosity=0)
        tenant = f"demo-{dt.datetime.now(dt.UTC):%Y%m%d-%H%M%S}"
        earlier = Tenant.objects.filter(name__startswith="demo-").count()
        chosen = conversations.read(file, CONVERSATIONS)
        headline(f"prism_memory, on {file.name}, as tenant {tenant}")
        if earlier:
            say(said_of(earlier))
        try:
            return Story(tenant, file, chosen, services.folder).tell()
        finally:
            connections.close_all()


def said_of(earlier: int) -> str:
    """Return what is told of the demos before this one."""
    stay = "demo stays" if earlier == 1 else "demos stay"
    return f"{earlier:,} earlier {stay} in the database; make clean removes it."


@contextlib.contextmanager
def _alone(services: Services) -> Iterator[None]:
    """Refuse a second demo on the same servers: each kills a worker of its own."""
    services.folder.mkdir(parents=True, exist_ok=True)
    with (services.folder / "demo-lock").open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ServiceError("another demo runs in this checkout") from error
        yield


def _request_stop(_number: int, _frame: FrameType | None) -> None:
    # A second Ctrl-C must not leave half of what was started behind.
    for number in STOPS:
        signal.signal(number, signal.SIG_IGN)
    raise StopRequested


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(f"error: {error}") from error
