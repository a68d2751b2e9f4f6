"""Writers at the same moment, on connections of their own."""

from __future__ import annotations

import threading
import time
import uuid
from functools import partial

import pytest
from django.db import connection, transaction

from prism_memory.errors import Conflict
from prism_memory.models import (
    Embedding,
    EmbeddingSpace,
    LineageEdge,
    Record,
    Scope,
    Source,
    Tenant,
)
from prism_memory.types import ConsentScope, Entry, Lineage, SourceRef
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)

THREADS = 16


def test_one_key_at_once_is_one_row_and_all_get_its_id():
    """case_C16."""
    ids = together([partial(remember_one, "the same", key="k")] * THREADS)
    assert len(set(ids)) == 1
    record = Record.objects.get()
    assert (record.id, record.version) == (ids[0], 1)
    assert Embedding.objects.get().record_id == ids[0]


def test_different_texts_under_one_key_end_as_one_of_them():
    """case_C16."""
    texts = [f"text {i}" for i in range(THREADS)]
    ids = together([partial(remember_one, text, key="k") for text in texts])
    record = Record.objects.get()
    assert set(ids) == {record.id}
    assert record.text in texts
    assert record.version == THREADS
    assert not make_memory().remember(Entry(record.text, key="k")).changed


def test_overlapping_batches_in_opposite_orders_do_not_deadlock():
    """Each batch overwrites what the others write, in an order of its own."""
    keys = [f"k{i}" for i in range(60)]

    def write(number: int) -> list[uuid.UUID]:
        mine = [*keys[number % 7 : 40 + number], f"own-{number}"]
        ordered = mine if number % 2 else mine[::-1]
        entries = [Entry(f"{key} by {number}", key=key) for key in ordered]
        return [*make_memory().remember(entries).accepted]

    for _ in range(2):
        together([partial(write, n) for n in range(THREADS)])
    written = together([partial(write, n) for n in range(THREADS)])
    assert Record.objects.count() == len({i for ids in written for i in ids})
    assert {*keys[:55]} <= {*Record.objects.values_list("key", flat=True)}
    assert Embedding.objects.count() == Record.objects.count()


def test_a_first_write_of_tenant_scope_source_and_space_at_once():
    def write(number: int) -> uuid.UUID:
        source = SourceRef("chat", number)
        return remember_one(f"text {number}", source=source)

    ids = together([partial(write, n) for n in range(THREADS)])
    assert len(set(ids)) == THREADS
    for model in (Tenant, Scope, Source, EmbeddingSpace):
        assert model._default_manager.count() == 1
    assert [item.source for item in make_memory().list()] == ["chat"] * THREADS


def test_sequence_numbers_are_unique_across_writers():
    """B96; each writer's own stay in the order it gave them."""

    def write(number: int) -> None:
        for part in range(4):
            remember(*(f"{number:02}-{part}-{i}" for i in range(5)))

    together([partial(write, n) for n in range(8)])
    items = make_memory(limits={"list_rows": 200}).list()
    assert len({item.sequence for item in items}) == len(items) == 160
    for number in range(8):
        mine = [i.text for i in items if i.text.startswith(f"{number:02}-")]
        assert mine == sorted(mine)


def test_lineage_rewritten_at_once_is_one_of_the_versions():
    remember_one("it", key="it")

    def derive(number: int) -> None:
        sources = tuple(f"{number}-{i}" for i in range(5))
        remember_one("it", key="it", lineage=Lineage(sources))

    together([partial(derive, n) for n in range(8)])
    edges = LineageEdge.objects.order_by("position")
    assert [edge.position for edge in edges] == [0, 1, 2, 3, 4]
    names = [edge.source_ref.rpartition(":")[2] for edge in edges]
    assert names == [f"{names[0][0]}-{i}" for i in range(5)]


def test_what_is_derived_while_a_consent_is_revoked_hides_too():
    """B141: whichever comes first, none of it is seen."""
    for round_ in range(6):
        root = remember_one("root", key=f"root-{round_}")
        first = Lineage((f"root-{round_}",))
        second = Lineage((f"first-{round_}",))
        entries = [
            Entry("first", key=f"first-{round_}", lineage=first),
            Entry("second", key=f"second-{round_}", lineage=second),
        ]
        together(
            [
                partial(make_memory().set_consent, root, visible=False),
                *[partial(make_memory().remember, entry) for entry in entries],
                partial(make_memory().remember, entries),
            ]
        )
        assert [item.key for item in make_memory().list()] == []


def test_a_derivation_that_is_not_committed_yet_is_not_missed_by_a_revocation():
    """B141: the revocation waits for it, then hides all of it."""
    root = remember_one("root", key="root")
    revoking = make_memory()

    def derive() -> None:
        with transaction.atomic():
            make_memory().remember(
                [
                    Entry("first", key="first", lineage=Lineage(("root",))),
                    Entry("second", key="second", lineage=Lineage(("first",))),
                ]
            )
            wait_for_a_lock()

    def revoke() -> None:
        while not _locked():
            time.sleep(0.01)
        revoking.set_consent(root, visible=False)

    together([derive, revoke])
    assert len(make_memory().list()) == 0


def _locked(*, granted: bool = True) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid ="
            " pg_locks.database WHERE datname = current_database()"
            " AND locktype = 'advisory' AND granted = %s",
            [granted],
        )
        (count,) = cursor.fetchone()
    return bool(count)


def wait_for_a_lock() -> None:
    """Return when another connection waits for an advisory lock, or never will."""
    for _ in range(1_000):
        if _locked(granted=False):
            return
        time.sleep(0.01)


def test_a_revocation_while_it_is_overwritten_is_never_undone():
    for _ in range(6):
        record_id = remember_one(str(uuid.uuid4()), key=str(uuid.uuid4()))
        key = Record.objects.get(id=record_id).key

        def overwrite(key: str = key) -> bool:
            try:
                remember_one("new words", key=key)
            except Conflict:
                return False
            return True

        hide = partial(make_memory().set_consent, record_id, visible=False)
        together([hide, overwrite, overwrite])
        assert Record.objects.get(id=record_id).visible is False
        assert record_id not in {item.id for item in make_memory().list()}


def test_changes_of_consent_at_the_same_moment_all_count():
    """The second waits for the first, and goes on from what that wrote."""
    record_id = remember_one("a")
    changed = threading.Event()

    def first() -> None:
        with transaction.atomic():
            make_memory().set_consent(record_id, label=ConsentScope.USER)
            changed.set()
            wait_for_a_waiter()

    def second() -> None:
        assert changed.wait(60)
        make_memory().set_consent(record_id, label=ConsentScope.PROFILE)

    together([first, second])
    assert Record.objects.get(id=record_id).version == 3


def wait_for_a_waiter() -> None:
    """Return when another connection waits for a lock."""
    for _ in range(6_000):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone() != (0,):
                return
        time.sleep(0.01)
    pytest.fail("nobody ever waited")


def test_writers_of_two_tenants_do_not_wait_for_each_other():
    """The second's write ends while the first's transaction is open."""
    remember_one(scope=make_scope(tenant="globex"), lineage=Lineage(("m",)))
    remember_one(lineage=Lineage(("m",)))
    with transaction.atomic():
        remember_one("mine", lineage=Lineage(("m",)))
        other = make_scope(tenant="globex")
        together(
            [partial(remember_one, "theirs", scope=other, lineage=Lineage(("m",)))]
        )
