"""Workers that are killed in the middle: nothing is lost, nothing is done twice.

A lock of the test's own stops the worker inside a step. It is killed there, the lock is
let go, and another worker with beat finds what is left by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from prism_memory import tasks
from prism_memory.models import (
    AuditEvent,
    AuditSeal,
    Embedding,
    ErasureReceipt,
    Record,
    Run,
)
from prism_memory.types import Scope
from tests.factories import make_memory, remember
from tests.files import storages
from tests.governance.retention.written import make_policy, old
from tests.governance.stored import lines
from tests.tasks.conftest import kill, until, worker

pytestmark = pytest.mark.django_db(transaction=True)

ADA = Scope("acme", "ada")
WISHES = {"DECAY_BELOW": 0.05, "SEALS": "content"}


@dataclass(frozen=True)
class Kind:
    """One kind of work.

    Args:
        begin: Makes what is to do, and sends the message.
        table: Locked, so that the work stops in the middle of a step.
        check: Asserts that all is done, once.
        again: What beat's clock would send much later, of work that is no run.
    """

    begin: Callable[[], Any]
    table: str
    check: Callable[[Path], None]
    again: Callable[[], Any] = lambda: None
    mode: str = "EXCLUSIVE"


def sweep(work: str) -> Callable[[], Any]:
    return lambda: tasks.sweep.apply(kwargs={"work": work}, throw=True)


def erasing() -> None:
    remember(*(f"Text {n}." for n in range(20)), scope=ADA)
    make_memory(ADA).start_erasure()


def erased(_folder: Path) -> None:
    receipt = ErasureReceipt.objects.get()
    assert receipt.counts["prism_memory_record"] == 20
    assert not Record.objects.exists()
    assert AuditEvent.objects.filter(action="memory.erase").count() == 1


def exporting() -> None:
    remember(*(f"Text {n}." for n in range(5)), scope=ADA)
    make_memory(ADA).start_export()


def exported(folder: Path) -> None:
    assert len(lines(folder)) == 5


def retaining() -> None:
    for _ in range(3):
        old(9)
    make_policy(max_age_days=1)
    sweep("retention")()


def retained(_folder: Path) -> None:
    assert not Record.objects.exists()
    events = AuditEvent.objects.filter(action="retention.sweep")
    assert sum(event.detail["deleted"] for event in events) == 3


def sealing() -> None:
    remember("One.", scope=ADA)
    (record,) = Record.objects.all()
    make_memory(ADA).set_consent(record.id, visible=False)
    sweep("seals")()


def sealed(_folder: Path) -> None:
    until(lambda: AuditSeal.objects.filter(tenant="acme").exists(), "the seal")
    assert not AuditEvent.objects.filter(tenant="acme", seal=None).exists()
    assert [*AuditSeal.objects.filter(tenant="acme").values_list("number")] == [(1,)]


KINDS = {
    "erase": Kind(erasing, "record", erased),
    "export": Kind(exporting, "record", exported, mode="ACCESS EXCLUSIVE"),
    "retention": Kind(retaining, "record", retained),
    "seal": Kind(sealing, "auditseal", sealed, sweep("seals")),
}


@contextmanager
def locked(url: str, table: str, mode: str) -> Iterator[Callable[[], bool]]:
    """Hold a table; yield what tells whether somebody waits for it."""
    name = f"prism_memory_{table}"
    waits = (
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
        " AND database = (SELECT oid FROM pg_database WHERE datname ="
        " current_database())"
    )
    with psycopg.connect(url) as held:
        held.execute(f"LOCK TABLE {name} IN {mode} MODE")

        def is_waited_for() -> bool:
            row = held.execute(waits, [name]).fetchone()
            return bool(row and row[0])

        yield is_waited_for


@pytest.mark.parametrize(
    "name",
    [
        "erase",
        *(pytest.param(n, marks=pytest.mark.soak) for n in KINDS if n != "erase"),
    ],
)
def test_what_a_killed_worker_was_at_is_finished_once(
    name: str,
    environment: dict[str, str],
    queue: str,
    tmp_path: Path,
    settings: Any,
) -> None:
    """B436, B500."""
    kind = KINDS[name]
    settings.STORAGES = storages(tmp_path / "files")
    environment = environment | {
        "PRISM_TEST_FILES": str(tmp_path / "files"),
        "PRISM_TEST_SETTINGS": json.dumps(WISHES),
    }
    kind.begin()
    with (
        locked(environment["DATABASE_URL"], kind.table, kind.mode) as is_waited_for,
        worker(environment, queue) as first,
    ):
        until(is_waited_for, "a worker in the middle of its work")
        kill(first)
    kind.again()
    with worker(environment, queue, "-B", "-s", str(tmp_path / "beat")):
        if name != "seal":
            until(lambda: Run.objects.filter(state="done").exists(), "the end")
        kind.check(tmp_path / "files")
    assert Run.objects.count() <= 1


FAULTS = ("NAN", "WIDE", "FEW", "COUNT", "REJECTED", "UNFORESEEN", "HANG")


@pytest.mark.soak
def test_of_texts_that_break_an_embedder_no_other_is_lost(
    environment: dict[str, str], queue: str, tmp_path: Path, settings: Any
) -> None:
    """Each is given up and says why; what hangs is ended by the time limit."""
    # Time limits go with the message: the worker's own beat sends them all.
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False}
    fine = [f"Fine {n}." for n in range(6)]
    remember(*FAULTS, *fine)
    wish = {
        "EMBEDDERS": {"default": {"BACKEND": "tests.embedders.FaultyEmbedder"}},
        "EMBED_ATTEMPTS": 2,
        "TASK_SECONDS": 5,
    }
    environment = environment | {"PRISM_TEST_SETTINGS": json.dumps(wish)}
    more = ("-B", "-s", str(tmp_path / "beat"))
    with worker(environment, queue, *more, pool="prefork"):
        until(
            lambda: not Embedding.objects.filter(vector=None, failed_at=None).exists(),
            "the end of the queue",
        )
    failed = Embedding.objects.exclude(failed_at=None)
    told = dict(failed.values_list("record__text", "error"))
    assert told.keys() == {*FAULTS}
    assert all(told.values())
    assert "SoftTimeLimitExceeded" in told["HANG"]
    assert Embedding.objects.exclude(vector=None).count() == len(fine)
