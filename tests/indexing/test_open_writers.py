"""Who writes while a space is built and switched to, and commits late."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from prism_memory import indexing
from prism_memory.errors import Conflict
from prism_memory.indexing.writers import wait_for_writers
from tests.factories import make_memory, remember_one
from tests.indexing.conftest import space
from tests.indexing.test_fill import Noting, fill
from tests.indexing.test_switch import WHO, build, reopen, states, switch
from tests.indexing.two_spaces import configure

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _two(settings: Any) -> None:
    configure(settings)


@pytest.fixture
def opened() -> Iterator[Callable[[Callable[[], object]], Callable[[], None]]]:
    """Do something in an open transaction of another session; return what commits."""
    threads: list[tuple[threading.Thread, threading.Event]] = []

    def begin(work: Callable[[], object]) -> Callable[[], None]:
        done, go = threading.Event(), threading.Event()

        def run() -> None:
            try:
                with transaction.atomic():
                    work()
                    done.set()
                    go.wait(30)
            finally:
                done.set()
                connection.close()

        thread = threading.Thread(target=run)
        threads.append((thread, go))
        thread.start()
        assert done.wait(30)

        def commit() -> None:
            go.set()
            thread.join()

        return commit

    yield begin
    for thread, go in threads:
        go.set()
        thread.join()


def test_what_commits_between_the_fill_and_the_switch_is_not_lost(
    opened: Any, monkeypatch: Any
) -> None:
    """And a text that was corrected then does not answer by its old words."""
    space()
    pin = remember_one("Ada's pin is 1234.", wait=True)
    written: list[uuid.UUID] = []

    def write() -> None:
        written.append(remember_one("Bob drinks coffee."))
        make_memory().correct(pin, "Ada likes fishing.")

    commit = opened(write)
    new = build()
    fill(new, Noting())
    module = import_module("prism_memory.indexing.switch")
    with monkeypatch.context() as patch:
        hasty = partial(wait_for_writers, max_seconds=0)
        patch.setattr(module, "wait_for_writers", hasty)
        with pytest.raises(Conflict, match="1 transactions that write vectors"):
            switch()
    # It is waited for, and then what it wrote is missed.
    waiting = import_module("prism_memory.indexing.writers")
    monkeypatch.setattr(waiting.time, "sleep", lambda _: commit())
    with pytest.raises(Conflict, match="lacks 1 vectors"):
        switch()
    fill(new, embed := Noting())
    assert sorted(embed.texts) == ["Ada likes fishing.", "Bob drinks coffee."]
    assert switch().id == new.id
    memory = make_memory()
    found = memory.recall("Bob drinks coffee.", legs="vector").hits[0]
    assert (found.id, round(found.cosine or 0, 2)) == (written[0], 1.0)
    asked = memory.recall("Ada's pin is 1234.", legs="vector").hits
    assert max(hit.cosine or 0 for hit in asked) < 0.9


def test_who_reads_or_begins_later_is_not_waited_for(opened: Any) -> None:
    remember_one("one", wait=True)
    opened(lambda: make_memory().recall("one"))
    wait_for_writers(using="default", max_seconds=0)
    with transaction.atomic():
        remember_one("two")
        wait_for_writers(using="default", max_seconds=0)  # nor oneself


def test_a_space_that_is_dropped_is_not_switched_back_to(monkeypatch: Any) -> None:
    """Whatever others do meanwhile: the space that answers keeps its vectors."""
    old = space()
    remember_one("Ada drinks tea.", wait=True)
    fill(build(), Noting())
    new = switch()
    module = import_module("prism_memory.indexing.drop_space")
    real = module.drop_index

    def meanwhile(**given: Any) -> None:
        real(**given)
        with pytest.raises(Conflict, match="no retired space"):
            reopen()
        beside = build("default")  # of the same embedder, but another one
        assert beside.id not in {old.id, new.id}
        assert states()[old.id] == "dropping"

    monkeypatch.setattr(module, "drop_index", meanwhile)
    drop: Any = {"at": timezone.now(), **WHO}
    assert indexing.drop_space(space_id=old.id, **drop) == 1
    assert old.id not in states()
    assert make_memory().recall("Ada drinks tea.", legs="vector").hits
