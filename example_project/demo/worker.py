"""The Celery worker of the demo, and the queue that it works off."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.db.models.functions import Now

from example_project.embedded import CHECKOUT
from example_project.serve import Child
from prism_memory.management.progress import Progress
from prism_memory.models import Embedding

POLL_SECONDS = 0.05
STALL_SECONDS = 90
STOP_SECONDS = 5


class Stalled(RuntimeError):
    """The worker ended by itself, or nothing was indexed for too long."""


@dataclass
class Queue:
    """What of a tenant waits for its vector."""

    tenant: str
    total: int

    def indexed(self) -> int:
        """Return how many have their vector. One query."""
        rows = Embedding.objects.filter(tenant=self.tenant)
        return rows.filter(vector__isnull=False).count()

    def failed(self) -> int:
        """Return how many were given up. One query."""
        rows = Embedding.objects.filter(tenant=self.tenant)
        return rows.filter(failed_at__isnull=False).count()

    def held(self) -> set[uuid.UUID]:
        """Return the records that a worker holds at this moment. One query."""
        rows = Embedding.objects.filter(tenant=self.tenant, vector__isnull=True)
        claimed = rows.filter(claimed_until__gt=Now())
        return set(claimed.values_list("record_id", flat=True))

    def taken_twice(self, records: set[uuid.UUID]) -> int:
        """Return how many of these were claimed again and have their vector."""
        rows = Embedding.objects.filter(tenant=self.tenant, record_id__in=records)
        return rows.filter(attempts__gte=2, vector__isnull=False).count()


@dataclass
class Pace:
    """How quickly vectors came, without the time that workers took to start."""

    vectors: int = 0
    seconds: float = 0.0
    _last: tuple[int, float] | None = field(default=None, repr=False)
    _warm: bool = field(default=False, repr=False)

    def saw(self, indexed: int) -> None:
        """Note how many there are now."""
        now = time.perf_counter()
        if self._last is None:
            self._last, self._warm = (indexed, now), False
        elif indexed > self._last[0]:
            if self._warm:  # the first ones took as long as the worker to start
                self.vectors += indexed - self._last[0]
                self.seconds += now - self._last[1]
            self._last, self._warm = (indexed, now), True

    def pause(self) -> None:
        """Note that the worker is gone: what follows is not its pace."""
        self._last = None

    @property
    def per_second(self) -> float:
        """Vectors a second."""
        return self.vectors / self.seconds if self.seconds else 0.0


@contextlib.contextmanager
def worker(schedule: Path, log: Path) -> Iterator[Child]:
    """Have a Celery worker, with beat inside, for a block.

    Args:
        schedule: Where its beat keeps the time; removed after, as its temporary
            folder beside it: one that was killed removes nothing itself.
        log: Where it writes.
    """
    # As root in a container Celery warns at length.
    quiet = ("-W", "ignore:You're running the worker with superuser")
    words = [
        *(sys.executable, *quiet, "-m", "celery", "--quiet", "-A", "example_project"),
        *("worker", "--beat", f"--schedule={schedule}", "--queues=prism-demo"),
        *("--concurrency=1", "--loglevel=INFO"),
    ]
    temporary = schedule.parent / "demo-tmp"
    temporary.mkdir(exist_ok=True)
    with log.open("ab") as lines:
        process = subprocess.Popen(
            words,
            cwd=CHECKOUT,
            env=os.environ | {"TMPDIR": str(temporary)},
            stdin=subprocess.DEVNULL,
            stdout=lines,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a Ctrl-C reaches the demo alone
        )
    child = Child("worker", process)
    try:
        yield child
    finally:
        child.ask_to_stop()
        child.wait_or_kill(time.monotonic() + STOP_SECONDS)
        for left in schedule.parent.glob(f"{schedule.name}*"):
            left.unlink(missing_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)


def watch(child: Child, queue: Queue, pace: Pace, *, until: float) -> int:
    """Show a bar while the worker indexes, until a share of all is done.

    Returns:
        How many have their vector.

    Raises:
        Stalled: The worker ended, or nothing moved for a long time.
    """
    bar = Progress(sys.stdout, "  Indexing", queue.total)
    moved, before = time.monotonic(), -1
    try:
        while True:
            indexed = queue.indexed()
            pace.saw(indexed)
            bar.update(indexed, f"{indexed:,} of {queue.total:,}")
            if indexed + queue.failed() >= until * queue.total:
                return indexed
            if indexed != before:
                moved, before = time.monotonic(), indexed
            if child.process.poll() is not None:
                message = f"the worker ended by itself ({child.process.returncode})"
                raise Stalled(message)
            if time.monotonic() - moved > STALL_SECONDS:
                message = f"nothing was indexed for {STALL_SECONDS} seconds"
                raise Stalled(message)
            time.sleep(POLL_SECONDS)
    finally:
        bar.close()


def kill_while_holding(child: Child, queue: Queue) -> set[uuid.UUID]:
    """SIGKILL the worker, its pool and its beat while it holds texts.

    Returns:
        The records whose texts it held; nobody gives them back.
    """
    end = time.monotonic() + STALL_SECONDS
    while not queue.held() and time.monotonic() < end:
        time.sleep(0.002)
    os.killpg(child.process.pid, signal.SIGKILL)
    child.process.wait()
    return queue.held()
