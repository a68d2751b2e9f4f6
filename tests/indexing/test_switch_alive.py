"""case_C23, B485: recall and writes go on through the whole of a change of embedder."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from example_project.embedded import CHECKOUT
from prism_memory import indexing
from prism_memory.memory import Memory
from prism_memory.models import Embedding, EmbeddingSpace, Run
from tests.embedders import Calls
from tests.factories import make_memory, make_scope, remember
from tests.indexing.entries import ENTRIES
from tests.indexing.two_spaces import configure
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = [f"person{n} keeps bees in town{n}" for n in range(24)]


class Readers:
    """Ask until told to stop, and note whatever is not as it should be."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.asked = 0
        self.wrong: list[object] = []

    def read(self, memory: Memory, legs: str) -> None:
        for text in itertools.cycle(NAMES):
            if self.done.is_set():
                return
            found = memory.recall(text, legs=legs, top_k=5)
            # In its own space the same words are the same vector: a cosine of one.
            # Of two spaces mixed it would be less, or an error.
            cosines = [hit.cosine or 0 for hit in found.hits if hit.text == text]
            if found.degraded or not cosines or abs(cosines[0] - 1) > 0.01:
                self.wrong.append((text, found.degraded, cosines))
            self.asked += 1

    def write(self, memory: Memory) -> None:
        for number in itertools.count():
            if self.done.is_set():
                return
            done = memory.remember(f"note {number} of a writer", wait=True)
            if done.degraded or done.pending:
                self.wrong.append(done)


def index(*words: str) -> str:
    out = StringIO()
    call_command("prism_memory_index", *words, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_nothing_fails_degrades_or_is_mixed_from_the_first_page_to_the_drop(
    settings: Any,
) -> None:
    configure(settings, REBUILD_ROWS=4)
    remember(*NAMES, wait=True)
    index("create")
    writing = make_scope(thread="another chat")
    readers = Readers()

    def change() -> None:
        try:
            for entry in ("turned", "next"):
                index("rebuild", "--to", entry, "--switch", "--verbosity=0")
                index("switch", "--back", "--verbosity=0")
                index("switch", "--back", "--verbosity=0")
                (retired,) = EmbeddingSpace.objects.filter(state="retired")
                index("drop", "--space", str(retired.id))
        finally:
            readers.done.set()

    together(
        [
            change,
            lambda: readers.read(make_memory(), "vector"),
            lambda: readers.read(make_memory(), "hybrid"),
            lambda: readers.write(make_memory(writing)),
        ]
    )
    assert readers.wrong == []
    assert readers.asked > len(NAMES)
    (active,) = EmbeddingSpace.objects.all()
    assert (active.backend, active.dimensions, active.state) == ("next", 96, "active")
    assert not Embedding.objects.filter(vector=None).exists()
    assert {len(list(row.vector)) for row in Embedding.objects.all()} == {96}
    found = indexing.index_state(using="default", space=indexing.space_of(active))
    assert found.valid


def test_who_is_killed_goes_on_and_does_no_page_twice(
    settings: Any, child_environment: dict[str, str], tmp_path: Any
) -> None:
    """B198, B485: SIGKILL in the middle; what is whole is not embedded again."""
    configure(settings)
    remember(*NAMES, wait=True)
    calls = Calls(tmp_path / "calls")
    command = ("prism_memory_index", "rebuild", "--to", "slow", "--samples=0")
    environment = child_environment | {
        "DJANGO_SETTINGS_MODULE": "tests.indexing.settings_slow",
        "PRISM_TEST_CALLS": str(calls.path),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "django", *command],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while len(calls.read()) < 3 and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    run = Run.objects.get(tenant="acme", kind="fill")
    filled = run.counts["filled"]
    assert run.state == "running"
    assert 0 < filled < len(NAMES)

    slow = {"path": str(calls.path), "name": "slow"}
    entry = {"BACKEND": "tests.embedders.NotingEmbedder", "OPTIONS": slow}
    configure(settings, EMBEDDERS={**ENTRIES, "slow": entry}, REBUILD_ROWS=4)
    # It is as wide as the first, and of another name.
    index(*command[1:], "--verbosity=0")
    run.refresh_from_db()
    assert (run.state, run.counts["filled"]) == ("done", len(NAMES))
    twice = [text for text, n in Counter(calls.texts()).items() if n > 1]
    assert len(twice) <= 4  # the page that it was killed on was never written
    assert set(calls.texts()) == set(NAMES)
    index("switch")
    assert make_memory().recall(NAMES[3], legs="vector").hits[0].text == NAMES[3]
