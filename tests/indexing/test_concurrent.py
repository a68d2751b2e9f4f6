"""Many drains at once, and drains among writers: real commits, threads, processes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection, transaction

from example_project.embedded import CHECKOUT
from prism_memory import backends, indexing
from prism_memory.indexing import claims
from prism_memory.models import Embedding, Record
from prism_memory.types import Entry
from tests.embedders import Calls
from tests.factories import make_memory, make_scope, remember
from tests.indexing.conftest import counted, drain, make_due, pending, space
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)

SCOPES = [make_scope(thread=f"chat-{n}") for n in range(5)]


class Noting:
    """An embed that counts what it is asked for."""

    def __init__(self):
        self.texts: Counter[str] = Counter()
        self.lock = threading.Lock()

    def __call__(self, texts):
        with self.lock:
            self.texts.update(texts)
        return backends.embed(backends.get_embedder(), texts, role="passage")


def remember_everywhere(rows):
    for scope in SCOPES:
        remember(*(f"{scope.thread} note {n}." for n in range(rows)), scope=scope)


@pytest.mark.parametrize("drains", [2, 8])
def test_drains_at_once_embed_each_text_once_and_count_exactly(drains):
    remember_everywhere(40)
    embed = Noting()
    done = together([lambda: drain(embed=embed, batch=5)] * drains)
    assert sum(one.embedded for one in done) == 200
    assert sum(one.stale + one.refused + one.failed for one in done) == 0
    assert set(embed.texts.values()) == {1}
    assert len(embed.texts) == 200
    assert counted() == {scope.id: 40 for scope in SCOPES}


def test_two_processes_at_once_embed_each_text_once(child_environment, tmp_path):
    """Neither answers before both have claimed, so they do overlap."""
    remember_everywhere(8)
    calls = Calls(tmp_path / "calls")
    environment = child_environment | {
        "DJANGO_SETTINGS_MODULE": "tests.settings_worker",
        "PRISM_TEST_CALLS": str(calls.path),
        "PRISM_TEST_PROCESSES": "2",
        "PRISM_TEST_CLAIM": "300",
    }
    command = [sys.executable, "-m", "django", "prism_memory_index", "drain"]
    processes = [
        subprocess.Popen(command, cwd=CHECKOUT, env=environment) for _ in range(2)
    ]
    assert [process.wait(timeout=60) for process in processes] == [0, 0]
    assert len(calls.pids()) == 2
    assert set(Counter(calls.texts()).values()) == {1}
    assert len(calls.texts()) == 40
    assert counted() == {scope.id: 8 for scope in SCOPES}


def test_drains_among_writers_of_the_same_records_never_deadlock():
    """Each writer rewrites the same keys in an order of its own."""
    keys = [f"note-{n}" for n in range(24)]
    writers = [threading.Event() for _ in range(3)]

    def write(number):
        try:
            for turn in range(12):
                start = 7 * number + turn
                turned = (keys[start % 24 :] + keys[: start % 24])[:: number - 1 or 1]
                entries = [Entry(f"{key} {number} {turn}.", key=key) for key in turned]
                make_memory().remember(entries)
        finally:
            writers[number].set()

    def keep_draining():
        while not all(writer.is_set() for writer in writers):
            drain(batch=6)

    together([*[partial(write, n) for n in range(3)], *[keep_draining] * 3])
    make_due()
    drain()
    assert pending() == indexing.Pending()
    assert Record.objects.count() == 24
    assert all_vectors_are_of_the_present_text()


def test_a_drain_locks_its_rows_in_the_order_of_remember():
    """Who holds the first row and wants the second is never waited for in a circle."""
    first, second = sorted(remember("One.", "Two."))
    queue = claims.Queue("default", "acme", space())
    # Claimed, and so stored, in the other order: a scan meets the second first.
    held = [claims.claim(queue, 1, [record_id])[0] for record_id in (second, first)]
    vectors = [(item, [1.0] + [0.0] * 63) for item in held]
    rows = Embedding.objects.select_for_update()
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            rows.get(tenant="acme", record_id=first)
            writing = pool.submit(written_elsewhere, queue, vectors)
            until_somebody_is_blocked()
            rows.get(tenant="acme", record_id=second)
        assert writing.result() == 2


def written_elsewhere(queue, vectors):
    try:
        return claims.write(queue, vectors)
    finally:
        connection.close()


def until_somebody_is_blocked():
    end = time.monotonic() + 30
    blocked = (
        "SELECT 1 FROM pg_locks"
        " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
    )
    with connection.cursor() as cursor:
        while True:
            cursor.execute(blocked)
            if cursor.fetchall():
                return
            assert time.monotonic() < end, "nobody waits"
            time.sleep(0.02)


def all_vectors_are_of_the_present_text():
    embedder = backends.get_embedder()
    for row in Embedding.objects.select_related("record"):
        (wanted,) = backends.embed(embedder, [row.record.text], role="passage")
        if list(row.vector) != pytest.approx(wanted, abs=2**-11):
            return False
    return True
