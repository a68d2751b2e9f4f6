"""Erasures beside writers, drains, readers, and each other; on real commits."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from prism_memory import backends, indexing, lifecycle, runs
from prism_memory.errors import Conflict, NotVisible
from prism_memory.governance.erasure import pages
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import (
    AccessKey,
    Embedding,
    EmbeddingSpace,
    Record,
    Run,
    Source,
    Tombstone,
)
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Entry, Kind, Lineage, Scope, SourceRef
from tests.factories import make_memory, make_trace, remember, remember_one
from tests.governance.erasing import ADA, CHAT, OPERATOR, erase, furnish
from tests.lifecycle.test_concurrency import wait_for_a_waiter
from tests.together import together
from tests.tries import examples

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 8
MOST = examples(12)
"""Calls of each writer: enough to be at it before, during and after."""
BOB = Scope("acme", "bob", "support", "chat-1")


def embed(texts: Any) -> Any:
    return backends.embed(backends.get_embedder(), texts, role="passage")


def drain_all() -> indexing.Drained:
    identity = backends.get_embedder().identity
    space = indexing.active(using="default", alias="default", identity=identity)
    return indexing.drain(
        using="default", tenant="acme", space=space, embed=embed, batch=16
    )


def write(number: int, ended: threading.Event) -> list[Any]:
    """Write to scopes of the owner, old and new, until it is erased; return when."""
    written = []
    part = 0
    while part < 3 or (part < MOST and not ended.is_set()):
        place = replace(CHAT, thread=f"chat-{(number + part) % 5}")
        source = SourceRef(f"stream-{part % 3}", part)
        entries = [
            Entry(f"{number} {part} a", kind=Kind.TURN, source=source),
            Entry(f"{number} {part} b"),
        ]
        if number % 2:
            entries.append(Entry(f"{number} {part} c", lineage=Lineage(("m-1",))))
        started = timezone.now()
        done = make_memory(place).remember(entries)
        written.append((started, set(done.accepted)))
        part += 1
    return written


def check_whole() -> None:
    """No row hangs in the air; each record has its place in the queue."""
    records = set(Record.objects.values_list("id", flat=True))
    assert set(Embedding.objects.values_list("record_id", flat=True)) == records
    assert set(Record.objects.values_list("scope_id", flat=True)) <= set(
        ScopeRow.objects.values_list("id", flat=True)
    )
    stones = Tombstone.objects.filter(reason="forgotten")
    marked = {
        ref.removeprefix("record:")
        for ref in stones.values_list("target_ref", flat=True)
    }
    assert not marked & {str(record_id) for record_id in records}


@pytest.mark.parametrize("target", [ADA, Scope("acme"), CHAT])
def test_eight_writers_and_an_erasure(target, monkeypatch):
    """No error for either; what was there before its end is gone, the rest stays."""
    monkeypatch.setattr(pages, "PAGE", 8)
    furnish(CHAT, "quark", wait=False)
    remember("stays", scope=BOB)
    ended = threading.Event()

    def erase_once() -> Any:
        time.sleep(0.2)
        try:
            return erase(target)
        finally:
            ended.set()

    def drain_on() -> None:
        while not ended.is_set():
            drain_all()

    done, _, *written = together(
        [erase_once, drain_on, *(partial(write, n, ended) for n in range(WRITERS))]
    )
    there = set(Record.objects.values_list("id", flat=True))
    refs = Tombstone.objects.values_list("target_ref", flat=True)
    erased = {uuid.UUID(ref.removeprefix("record:")) for ref in refs}
    assert done.records == len(erased) > 0
    for started, ids in (one for moments in written for one in moments):
        assert not ids & there & erased
        if target != CHAT:  # each call wrote to one scope: all of it, or none
            assert ids <= there or ids <= erased
            assert ids <= there or started < done.finished_at
    drain_all()
    check_whole()
    if target != Scope("acme"):
        assert Record.objects.filter(text="stays").exists()


def test_what_is_committed_before_the_end_is_gone():
    """The fence: a writer that was there first is waited for, and erased too."""
    remember_one("first", scope=CHAT)
    written = threading.Event()

    def first() -> None:
        with transaction.atomic():
            remember_one("in the middle", scope=CHAT)
            written.set()
            time.sleep(0.8)

    def second() -> Any:
        assert written.wait(60)
        return erase(ADA)

    _, done = together([first, second])
    assert done.records == 2
    assert not Record.objects.exists()


def test_a_writer_of_a_scope_that_is_being_erased_makes_it_anew():
    """It waits for the end, and then writes to a scope that is not there."""
    remember_one("first", scope=CHAT)
    locked = threading.Event()

    def eraser() -> None:
        with transaction.atomic():
            ScopeRow.objects.select_for_update().get(id=CHAT.id)
            Embedding.objects.all().delete()
            Record.objects.all()._raw_delete("default")
            ScopeRow.objects.all()._raw_delete("default")
            locked.set()
            wait_for_a_waiter()

    def writer() -> Any:
        assert locked.wait(60)
        return remember_one("later", scope=CHAT, source=SourceRef("s"))

    _, record_id = together([eraser, writer])
    assert Record.objects.get().id == record_id
    assert ScopeRow.objects.get().id == CHAT.id
    assert Source.objects.count() == 1


def test_an_erasure_gives_up_on_a_transaction_that_never_ends(monkeypatch):
    monkeypatch.setattr("prism_memory.governance.erasure.patience.TRIES", 2)
    remember_one("first", scope=CHAT)
    tried = threading.Event()

    def holder() -> None:
        with transaction.atomic():
            Record.objects.select_for_update().get()
            assert tried.wait(60)

    def eraser() -> None:
        time.sleep(0.3)
        try:
            with pytest.raises(Conflict):
                erase(ADA)
        finally:
            tried.set()

    together([holder, eraser])
    run = Run.objects.get()
    assert (run.state, run.error) == ("failed", "conflict")
    assert erase(ADA).records == 1


def test_who_holds_the_lineage_is_waited_for(monkeypatch):
    """Who derives from what goes comes first, or after: never in between."""
    monkeypatch.setattr("prism_memory.governance.erasure.patience.TRIES", 2)
    remember_one("first", scope=CHAT)
    held, tried = threading.Event(), threading.Event()

    def holder() -> None:
        with transaction.atomic():
            hold_lineage(using="default", tenant="acme")
            held.set()
            assert tried.wait(60)

    def eraser() -> None:
        assert held.wait(60)
        try:
            with pytest.raises(Conflict):
                erase(ADA)
        finally:
            tried.set()

    together([holder, eraser])
    assert Record.objects.count() == 1
    assert erase(ADA).records == 1


def test_one_erasure_twice_at_once_is_one(monkeypatch):
    """Double start: one goes on, the other is told; one receipt, true counts."""
    monkeypatch.setattr(pages, "PAGE", 2)
    remember(*(f"record {i}" for i in range(40)), scope=CHAT)
    calls: list[Callable[[], Any]] = [partial(_erase_or_told, ADA) for _ in range(4)]
    done = [one for one in together(calls) if one is not None]
    assert len(done) >= 1
    found = [one for one in done if one.found]
    assert sum(one.records for one in found) == 40
    assert not Record.objects.exists()


def _erase_or_told(scope: Scope) -> Any:
    try:
        return erase(scope)
    except (runs.TakenOver, Conflict):
        return None


def test_a_wider_and_a_narrower_erasure_at_once(monkeypatch):
    """Each counts what it removed itself."""
    monkeypatch.setattr(pages, "PAGE", 3)
    for i in range(4):
        remember(*(f"{i} {j}" for j in range(10)), scope=replace(CHAT, thread=f"t{i}"))
    targets = [ADA, replace(CHAT, thread="t1"), Scope("acme", "ada", "support")]
    done = together([partial(erase, target) for target in targets])
    assert sum(one.records for one in done) == 40
    assert not ScopeRow.objects.exists()


def test_a_drain_that_claimed_a_text_before_brings_nothing_back():
    """B328, B500, case_C12."""
    record_id = remember_one("tea", scope=CHAT)
    identity = backends.get_embedder().identity
    space = indexing.active(using="default", alias="default", identity=identity)

    def slow(texts: Any) -> Any:
        erase(CHAT, record_id=record_id)
        return embed(texts)

    done = indexing.drain(
        using="default", tenant="acme", space=space, embed=slow, batch=4
    )
    assert (done.embedded, done.stale) == (0, 1)
    assert not Embedding.objects.exists()
    assert not Record.objects.exists()
    assert drain_all().embedded == 0


def test_the_index_builder_beside_an_erasure_has_no_error(monkeypatch):
    """What it wants to queue may be gone by then."""
    monkeypatch.setattr(pages, "PAGE", 5)
    remember(*(f"record {i}" for i in range(150)), scope=CHAT)
    identity = backends.get_embedder().identity
    space = indexing.active(using="default", alias="default", identity=identity)
    ended = threading.Event()

    def enqueue() -> None:
        while not ended.is_set():
            for _ in range(3):
                indexing.enqueue_missing(using="default", tenant="acme", space=space)
                with connection.cursor() as cursor:
                    cursor.execute(
                        "DELETE FROM prism_memory_embedding AS e USING"
                        " (SELECT record_id FROM prism_memory_embedding"
                        " ORDER BY record_id LIMIT 20 FOR UPDATE SKIP LOCKED) AS few"
                        " WHERE e.record_id = few.record_id"
                    )

    def eraser() -> Any:
        try:
            return erase(ADA)
        finally:
            ended.set()

    done, *_ = together([eraser, enqueue])
    assert done.records == 150
    assert not Embedding.objects.exists()
    assert EmbeddingSpace.objects.count() == 1


def test_strengths_and_traces_of_what_is_erased_are_no_ops():
    """B500: tasks that come late."""
    ids = furnish(CHAT, "quark")
    trace = make_late_trace(ids)
    erase(ADA)
    lifecycle.reinforce(
        using="default",
        tenant="acme",
        ids=ids,
        query_sha256=bytes(32),
        at=timezone.now(),
    )
    assert not lifecycle.write_trace(using="default", trace=trace)
    assert not AccessKey.objects.exists()
    assert lifecycle.write_trace(
        using="default", trace=replace(trace, at=timezone.now())
    )


def make_late_trace(ids: list[Any]) -> Any:
    return make_trace(*ids, scope=CHAT, at=timezone.now())


def test_sharing_beside_an_erasure_has_no_error():
    other = replace(CHAT, thread="chat-2")

    def share() -> None:
        for _ in range(20):
            ids = remember("a", "b", scope=CHAT)
            try:
                lifecycle.share_with(
                    using="default",
                    scope=CHAT,
                    actor=OPERATOR,
                    child=other,
                    ids=ids,
                    at=timezone.now(),
                )
            except NotVisible:
                continue

    together([share, share, *[partial(_erase_or_told, ADA) for _ in range(2)]])
    check_whole()
