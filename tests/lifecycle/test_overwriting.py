"""Who overwrites a record sees each hold on it, or is waited for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from typing import Any

import pytest
from django.db import connection, transaction

from prism_memory.errors import Conflict, Unsupported
from prism_memory.models import Record, Source
from prism_memory.types import Entry, SourceRef
from tests.capture import captured
from tests.factories import make_memory, remember_one
from tests.tables import counts

pytestmark = pytest.mark.django_db(transaction=True)

OTHERS = pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
PLACES: dict[str, Callable[[Record], Any]] = {
    "record": lambda record: make_memory().hold(record=record.id),
    "source": lambda record: make_memory().hold(source=record.source_id),
    "scope": lambda _: make_memory().hold(),
    "forgetting": lambda record: make_memory().forget(record.id, hold=True),
}


def beside(call: Callable[[], Any]) -> Future[Any]:
    """Begin a call on a connection of its own."""

    def run() -> Any:
        try:
            return call()
        finally:
            connection.close()

    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(run)
    finally:
        pool.shutdown(wait=False)


def begin(level: str) -> None:
    """Set the level of the transaction that is open, and take its snapshot."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
        cursor.execute("SELECT count(*) FROM prism_memory_record")


def make_sourced(source: str = "S") -> Record:
    record_id = remember_one("old words", key="a", source=SourceRef(source))
    return Record.objects.get(tenant="acme", id=record_id)


def write(text: str = "new words", source: str | None = "S") -> None:
    place = None if source is None else SourceRef(source)
    make_memory().remember(Entry(text, key="a", source=place))


class TestIsolation:
    """B151: a snapshot does not show the hold that came after it."""

    @OTHERS
    @pytest.mark.parametrize("place", PLACES)
    def test_nothing_is_overwritten_by_a_snapshot(self, level, place):
        record = make_sourced()
        with transaction.atomic():
            begin(level)
            beside(lambda: PLACES[place](record)).result(30)
            with pytest.raises((Unsupported, Conflict)):
                write()
        assert Record.objects.get(tenant="acme").text == "old words"

    @OTHERS
    def test_not_even_where_nothing_is_held(self, level):
        make_sourced()
        before = counts()
        with transaction.atomic():
            begin(level)
            with pytest.raises(Unsupported) as refused:
                write()
        assert level in str(refused.value)
        assert counts() == before
        assert Record.objects.get(tenant="acme").text == "old words"

    @OTHERS
    def test_new_records_and_the_same_again_are_fine(self, level):
        make_sourced()
        with transaction.atomic():
            begin(level)
            write("old words")
            remember_one("another", key="b")
        assert Record.objects.filter(tenant="acme").count() == 2


class TestMovingOut:
    """A hold on a source is on what stands in it, until that has left."""

    @pytest.mark.parametrize("target", ["T", None])
    def test_who_holds_the_source_waits_for_who_moves_out(self, target):
        record = make_sourced()
        with transaction.atomic():
            write(source=target)
            held = beside(lambda: make_memory().hold(source=record.source_id))
            with pytest.raises(Late):
                held.result(1)
        assert held.result(30).new

    @pytest.mark.parametrize("target", ["T", None])
    def test_who_moves_out_waits_for_who_holds_and_is_refused(self, target):
        record = make_sourced()
        with transaction.atomic():
            make_memory().hold(source=record.source_id)
            moved = beside(lambda: write(source=target))
            with pytest.raises(Late):
                moved.result(1)
        with pytest.raises(Conflict):
            moved.result(30)
        assert Record.objects.get(tenant="acme").text == "old words"

    @pytest.mark.parametrize("target", ["T", None])
    def test_in_a_hosts_transaction_it_moves_and_the_rest_stands(self, target):
        record = make_sourced()
        with transaction.atomic():
            remember_one("before", key="b")
            write(source=target)
        moved = Record.objects.get(tenant="acme", id=record.id)
        assert moved.text == "new words"
        assert moved.source_id != record.source_id
        assert Record.objects.filter(tenant="acme", key="b").exists()

    def test_a_batch_out_of_many_sources_locks_them_in_one_statement(self):
        names = ["S1", "S2", "S3"]
        memory = make_memory()
        memory.remember([Entry(n, key=n, source=SourceRef(n)) for n in names])
        with captured() as seen:
            memory.remember([Entry(n, key=n, source=SourceRef("S0")) for n in names])
        locks = [
            sql
            for sql, _ in seen.on_tenants()
            if "FROM prism_memory_source" in sql and "FOR KEY SHARE" in sql
        ]
        assert len(locks) == 2  # the second time with those that are left
        rows = Record.objects.filter(tenant="acme").select_related("source")
        assert {row.source.key for row in rows if row.source} == {"S0"}

    def test_who_stays_in_the_source_asks_no_more_than_before(
        self, django_assert_num_queries
    ):
        make_sourced()
        with django_assert_num_queries(9):
            write()
        assert Source.objects.filter(tenant="acme").count() == 1
