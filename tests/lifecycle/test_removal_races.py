"""Who deletes, derives, keeps and overwrites the same records at the same moment."""

from __future__ import annotations

import random
import threading
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from prism_memory import backends, indexing
from prism_memory.errors import Conflict, NotVisible
from prism_memory.models import LegalHold, LineageEdge, Record, Tombstone
from prism_memory.types import Entry, Lineage, Origin, SourceRef, Trust
from tests.factories import make_memory, make_scope, remember_one
from tests.lifecycle.test_concurrency import wait_for_a_lock
from tests.together import together, wait_for_a_row

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 8
KEYS = [f"k{n}" for n in range(6)]


def derive(source: uuid.UUID, text: str = "derived") -> uuid.UUID:
    return remember_one(text, lineage=Lineage((f"record:{source}",)))


def listed() -> set[str]:
    return {item.text for item in make_memory().list()}


VERBS: dict[str, Callable[[uuid.UUID], Any]] = {
    "forget": lambda i: make_memory().forget(i),
    "hide": lambda i: make_memory().forget(i, hold=True),
    "thread": lambda _: make_memory().forget_thread(),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_derivation_that_is_not_committed_yet_is_waited_for(verb: str) -> None:
    """The worker was first: what it made goes, or hides, with its source."""
    source = remember_one("source")
    begun = threading.Event()

    def work() -> None:
        with transaction.atomic():
            derive(source)
            begun.set()
            wait_for_a_lock()

    def remove() -> None:
        begun.wait(60)
        VERBS[verb](source)

    together([work, remove])
    assert listed() == set()
    assert Record.objects.count() == (2 if verb == "hide" else 0)


@pytest.mark.parametrize("verb", VERBS)
def test_a_derivation_that_comes_later_hides_or_is_refused(verb: str) -> None:
    """The forgetting was first: the worker, who read the source before, is too late."""
    source = remember_one("source")
    begun = threading.Event()
    told: list[type[Exception]] = []

    def remove() -> None:
        with transaction.atomic():
            VERBS[verb](source)
            begun.set()
            wait_for_a_lock()

    def work() -> None:
        begun.wait(60)
        try:
            derive(source)
        except NotVisible:
            told.append(NotVisible)

    together([remove, work])
    assert listed() == set()
    assert told == ([] if verb == "hide" else [NotVisible])


def test_a_thread_forgets_what_is_derived_while_it_is_at_it() -> None:
    """Between its batches too."""
    memory = make_memory()
    ids = memory.remember([f"n {n}" for n in range(200)]).accepted

    def work(number: int) -> None:
        for source in ids[number::3]:
            try:
                derive(source, f"of {source}")
            except NotVisible:
                return

    together([memory.forget_thread, *(partial(work, n) for n in range(3))])
    alive = {str(i) for i in Record.objects.values_list("id", flat=True)}
    for edge in LineageEdge.objects.all():
        assert edge.source_ref.removeprefix("record:") in alive
    # All whose source was there to the end were written after the thread's moment.
    assert not alive & {str(i) for i in ids}


def test_a_hold_waits_for_who_writes_and_the_next_one_sees_it() -> None:
    """B150: what stands when a hold is placed stands as long as the hold does."""
    record_id = remember_one("first", key="k")
    begun = threading.Event()

    def write() -> None:
        with transaction.atomic():
            remember_one("second", key="k")
            begun.set()
            wait_for_a_row()

    def hold() -> str:
        begun.wait(60)
        make_memory().hold(record=record_id)
        return str(Record.objects.get(id=record_id).text)

    assert together([write, hold])[1] == "second"
    with pytest.raises(Conflict):
        remember_one("third", key="k")


def test_a_record_and_what_derives_from_it_are_locked_as_writers_lock_them() -> None:
    """A writer of both without lineage, in the order of the keys, deadlocks with none.

    The root's key comes after the derived one's: locked root first, two would wait for
    each other.
    """
    for _ in range(6):
        memory = make_memory()
        (root,) = memory.remember(Entry("root", key="z")).accepted
        memory.remember(Entry("made", key="a", lineage=Lineage((f"record:{root}",))))

        def write() -> None:
            for n in range(10):
                texts = [{"text": f"{k} {n}", "key": k} for k in ("a", "z")]
                make_memory().remember(texts)

        together([write, partial(memory.forget, root), write])
        memory.forget_thread()


class Stress:
    """Random verbs on the same few records."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - which verb is next
        self.memory = make_memory()

    def known(self) -> list[uuid.UUID]:
        rows = Record.objects.filter(tenant="acme").values_list("id", flat=True)
        found = sorted(rows)
        return self.chance.sample(found, min(len(found), 2))

    def run(self, steps: int) -> None:
        verbs = [getattr(self, n) for n in dir(type(self)) if n.startswith("do_")]
        for _ in range(steps):
            try:
                self.chance.choice(verbs)()
            except (Conflict, NotVisible):
                continue

    def do_overwrite(self) -> None:
        keys = self.chance.sample(KEYS, 3)
        source = SourceRef(self.chance.choice("ab"))
        texts = [f"{key} {self.chance.random()}" for key in keys]
        pairs = zip(keys, texts, strict=True)
        self.memory.remember([Entry(t, key=k, source=source) for k, t in pairs])

    def do_derive(self) -> None:
        refs = tuple(f"record:{i}" for i in self.known())
        key = self.chance.choice(KEYS)
        text = f"{key} of {self.chance.random()}"
        self.memory.remember(Entry(text, key=key, lineage=Lineage(refs)))

    def do_forget(self) -> None:
        self.memory.forget(self.known())

    def do_hide(self) -> None:
        self.memory.forget(self.known()[:1], hold=True)

    def do_release_forgotten(self) -> None:
        restore = self.chance.random() < 0.5
        self.memory.release_forgotten(self.known(), restore=restore)

    def do_forget_thread(self) -> None:
        if self.chance.random() < 0.3:
            self.memory.forget_thread()

    def do_hold(self) -> None:
        for record_id in self.known()[:1]:
            self.memory.hold(record=record_id, matter=str(self.chance.random()))

    def do_release(self) -> None:
        for held in self.memory.holds(limit=5).items:
            self.memory.release(held.id)

    def do_consent(self) -> None:
        for record_id in self.known()[:1]:
            shown = self.chance.random() < 0.5
            self.memory.set_consent(record_id, visible=shown)

    def do_embed(self) -> None:
        embedder = backends.get_embedder()
        space = indexing.active(
            using="default", alias="default", identity=embedder.identity
        )
        indexing.drain(
            using="default",
            tenant="acme",
            space=space,
            embed=partial(backends.embed, embedder, role="passage"),
            batch=4,
        )


def test_eight_threads_and_every_verb_end_without_a_deadlock_and_in_order() -> None:
    """A deadlock is an OperationalError, which nobody here catches."""
    make_memory().remember([Entry(key, key=key) for key in KEYS])
    make_memory(make_scope(owner="bob")).remember("untouched")
    together([partial(Stress(seed).run, 25) for seed in range(THREADS)])
    check_invariants()
    assert len(make_memory(make_scope(owner="bob")).list()) == 1


def check_invariants() -> None:
    """Nothing in sight derives from what is blocked or gone, at whatever distance."""
    there = {f"record:{i}" for i in Record.objects.values_list("id", flat=True)}
    stones = Tombstone.objects.filter(tenant="acme", cleared_at=None)
    blocked = set(stones.values_list("target_ref", flat=True))
    sources: dict[str, set[str]] = {}
    for edge in LineageEdge.objects.filter(tenant="acme"):
        ref = f"record:{edge.record_id}"
        sources.setdefault(ref, set()).add(edge.source_ref)
    bad = blocked | {s for found in sources.values() for s in found} - there
    while more := {r for r, found in sources.items() if found & bad} - bad:
        bad |= more
    shown = {f"record:{item.id}" for item in make_memory().list(limit=200)}
    assert not shown & bad
    for hold in LegalHold.objects.filter(tenant="acme", released_at=None):
        assert hold.target_ref in there
    for stone in stones.filter(hold=True):
        assert stone.target_ref in there


def test_who_accepts_a_fact_and_who_takes_its_evidence_do_not_lock_each_other() -> None:
    """B317, B329: one comes after the other."""
    memory = make_memory()
    tool = make_memory(origin=Origin(Trust.TOOL, "tool")).remember("tool").accepted[0]
    for n in range(8):
        said = remember_one(f"said {n}")
        fact = memory.facts.assert_fact("Ada", "is", f"{n}", evidence=[said, tool])
        together(
            [
                partial(make_memory().facts.accept, fact.id),
                partial(make_memory().forget, said),
            ]
        )
        left = memory.facts.get(fact.id)
        assert left.evidence == (tool,)
        versions = memory.facts.timeline("Ada").items
        causes = [v.cause for v in versions if v.id == fact.id]
        assert causes in (
            ["asserted", "accepted"],
            ["asserted", "accepted", "rejudged"],
        )
