"""Many records, many pages: counts, kills in between, closures larger than a page."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from prism_memory import lifecycle, signals
from prism_memory.governance.erasure import pages
from prism_memory.models import (
    AuditEvent,
    Embedding,
    ErasureReceipt,
    LineageEdge,
    Record,
    Run,
    Tombstone,
)
from prism_memory.types import Entry, Lineage, Scope
from tests.factories import make_edge, make_memory, remember
from tests.governance.erasing import ADA, CHAT, OPERATOR, erase, furnish
from tests.kept import undone
from tests.recall.bulk import fill, seed
from tests.tables import counts, holding
from tests.tries import examples

pytestmark = pytest.mark.django_db

GROWN = {
    f"prism_memory_{name}"
    for name in ("tombstone", "auditevent", "run", "erasurereceipt")
}


@pytest.fixture
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed_at(statement: int) -> Iterator[list[int]]:
    """Kill the block before its n-th statement; savepoints do not count."""
    seen = [0]

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        seen[0] += 1
        if seen[0] == statement:
            raise Killed
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        try:
            yield seen
        except Killed:
            return


def test_nothing_is_left_of_2501_records_and_the_counts_say_so():
    """case_C10."""
    seed(CHAT)
    seed(Scope("acme", "bob"))
    fill(CHAT, 2_500)
    before = counts()
    done = erase(ADA)
    after = counts()
    assert done.records == 2_501
    assert done.counts["prism_memory_embedding"] == 2_501
    removed = {n: before[n] - after[n] for n in before if n not in GROWN}
    assert done.counts == {name: count for name, count in removed.items() if count}
    left = Record.objects.filter(scope__owner="ada")
    assert not left.exists()
    assert Embedding.objects.count() == 1
    assert Record.objects.count() == 1
    assert Tombstone.objects.count() == 2_501


@pytest.mark.usefixtures("_small_pages")
def test_a_kill_between_any_two_statements_leaves_nothing_half_done():
    """Crash points: whoever goes on ends with the same receipt.

    Every seventh, of about a hundred and fifty; in ``make soak`` each.
    """
    furnish(CHAT, "quark")
    remember("more", "and more", scope=ADA, wait=True)
    before = counts()
    with undone():
        erase(ADA)
        whole = receipt()
    point = 1
    while True:
        with undone():
            with killed_at(point):
                erase(ADA)
            if ErasureReceipt.objects.exists():
                break  # it ended before that statement
            check_nothing_is_half_done()
            check_it_is_ended(before)
            assert receipt() == whole
        point += max(1, 7 // examples(1))
    assert point > 40


def receipt() -> tuple[Any, ...]:
    found = ErasureReceipt.objects.values_list("found", "counts", "kinds", "kept")
    return tuple(found.get())


def check_it_is_ended(before: dict[str, int]) -> None:
    """Whoever goes on accounts for all that is gone, once."""
    done = erase(ADA)
    after = counts()
    removed = {n: before[n] - after[n] for n in before if n not in GROWN}
    assert done.counts == {n: count for n, count in removed.items() if count}
    assert holding("quark") == []
    for action in ("memory.erase_start", "memory.erase"):
        assert AuditEvent.objects.filter(action=action).count() == 1
    assert [run.state for run in Run.objects.all()] == ["done"]


def check_nothing_is_half_done() -> None:
    """Each record is as it was, or gone with its vector and marked."""
    marked = {
        stone.target_ref.removeprefix("record:")
        for stone in Tombstone.objects.filter(reason="forgotten")
    }
    there = {
        str(record_id) for record_id in Record.objects.values_list("id", flat=True)
    }
    vectors = {str(i) for i in Embedding.objects.values_list("record_id", flat=True)}
    assert there == vectors
    assert not there & marked
    run = Run.objects.first()
    if run is not None:
        assert run.counts.get("prism_memory_record", 0) == len(marked)


@pytest.mark.usefixtures("_small_pages")
def test_a_closure_larger_than_a_page_goes_from_its_far_end():
    """And is found again after each kill."""
    (root,) = remember("root", scope=ADA)
    last = root
    for i in range(20):
        entry = Entry(f"link {i}", lineage=Lineage((f"record:{last}",)))
        last = make_memory(CHAT).remember(entry).accepted[0]
    told: list[str] = []

    def note(ids: Any, **kwargs: Any) -> None:
        told.extend(ids)

    signals.invalidated.connect(note)
    try:
        done = erase(ADA, record_id=root)
    finally:
        signals.invalidated.disconnect(note)
    assert done.records == 21
    assert not Record.objects.exists()
    assert len(told) == len(set(told)) == 21
    assert Tombstone.objects.count() == 21


def test_a_long_chain_takes_one_tombstone_each():
    """Not one for each pair: of a chain of 10,000 that were 50 million."""
    ids = remember(*(f"link {i}" for i in range(200)), scope=CHAT)
    by_id = Record.objects.in_bulk(ids)
    for before, after in pairwise(ids):
        make_edge(by_id[after], by_id[before])
    assert erase(ADA).records == 200
    assert Tombstone.objects.count() == 200


@pytest.mark.usefixtures("_small_pages")
@pytest.mark.parametrize("number", range(12))
def test_what_remains_is_what_the_rules_say(number):
    """Random lineage, holds and targets, against a naive model."""
    chance = random.Random(number)  # noqa: S311 - repeatable
    places = [
        Scope("acme", owner, "support", f"chat-{i}")
        for owner in ("ada", "bob")
        for i in range(2)
    ]
    ids, where = [], {}
    for i in range(14):
        place = chance.choice(places)
        (record_id,) = remember(f"record {i}", scope=place)
        ids.append(record_id)
        where[record_id] = place
    by_id = Record.objects.in_bulk(ids)
    sources: dict[Any, set[Any]] = {record_id: set() for record_id in ids}
    for record_id in ids:
        for source in chance.sample(ids, chance.choice([0, 0, 1, 2])):
            if source not in sources[record_id]:
                sources[record_id].add(source)
                make_edge(by_id[record_id], by_id[source], len(sources[record_id]))
    held = {i for i in ids if chance.random() < 0.25}
    for record_id in held:
        lifecycle.hold(
            using="default",
            scope=where[record_id],
            actor=OPERATOR,
            at=timezone.now(),
            record_id=record_id,
        )
    target = chance.choice([*places, ADA, Scope("acme")])
    roots = {i for i in ids if target.opens(where[i]) and i not in held}
    reached = closure(roots, sources)
    done = erase(target)
    left = set(Record.objects.values_list("id", flat=True))
    assert left == set(ids) - (reached - held)
    assert done.records == len(reached - held)
    mine = {i for i in held if target.opens(where[i])}
    assert done.kept["records"] == len(mine)
    assert done.kept["derived"] == len(reached & held - mine)
    stones = Counter(Tombstone.objects.values_list("target_ref", flat=True))
    assert stones == Counter(f"record:{i}" for i in reached)
    assert not LineageEdge.objects.exclude(record_id__in=left).exists()


def closure(roots: set[Any], sources: dict[Any, set[Any]]) -> set[Any]:
    """Return the roots and all that derives from them, slowly."""
    reached = set(roots)
    while True:
        more = {i for i, of in sources.items() if of & reached} - reached
        if not more:
            return reached
        reached |= more
