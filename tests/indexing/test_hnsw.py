"""The index: made online, made anew, dropped, lost."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from functools import partial
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import OperationalError, connection, connections, transaction

from prism_memory import indexing
from prism_memory.checks import check_database
from prism_memory.errors import Conflict, Unsupported
from prism_memory.indexing import hnsw
from prism_memory.models import EmbeddingSpace, Run
from prism_memory.models import Scope as ScopeRow
from tests.capture import captured
from tests.factories import make_memory, make_scope, remember
from tests.indexing.conftest import counted, space

pytestmark = pytest.mark.django_db(transaction=True)

BUILDERS = """
SELECT pid FROM pg_stat_progress_create_index
 WHERE datname = current_database() AND relid = 'prism_memory_embedding'::regclass
   AND index_relid <> 0
"""


def rows_of(sql, given=()):
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return cursor.fetchall()


def create():
    return indexing.create_index(using="default", space=space())


def drop():
    indexing.drop_index(using="default", space=space())


def state():
    return indexing.index_state(using="default", space=space())


@pytest.fixture(autouse=True)
def _no_index_is_left():
    yield
    for (name,) in rows_of(
        "SELECT relname FROM pg_class WHERE relname LIKE 'prism_memory_hnsw_%%'"
    ):
        connection.cursor().execute(f'DROP INDEX "{name}"')


@contextmanager
def a_build_that_waits():
    """Begin a build in a thread; it waits for a writer's open transaction to end.

    Yields the backend that builds, the event that ends the transaction, and the list
    of what came of the build.
    """
    release, wrote, came = threading.Event(), threading.Event(), []

    def hold():
        with transaction.atomic():
            remember("Held open.")
            wrote.set()
            release.wait(60)
        connections.close_all()

    def build():
        try:
            came.append(create())
        except (Conflict, OperationalError) as error:
            came.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=hold), threading.Thread(target=build)]
    threads[0].start()
    assert wrote.wait(30)
    threads[1].start()
    try:
        yield builder(), release, came
    finally:
        release.set()
        for thread in threads:
            thread.join(60)


def builder():
    end = time.monotonic() + 30
    while not (found := rows_of(BUILDERS)):
        assert time.monotonic() < end, "no build began"
        time.sleep(0.02)
    return found[0][0]


def test_it_is_made_and_dropped():
    remember("Ada drinks tea.", wait=True)
    assert not state().exists
    made = create()
    assert made.name == indexing.index_name(space())
    assert (made.exists, made.valid) == (True, True)
    assert made.bytes > 0
    assert space().indexed
    indexing.drop_index(using="default", space=space())
    assert not state().exists
    assert not space().indexed


def test_making_it_twice_keeps_it():
    remember("Ada drinks tea.", wait=True)
    create()
    oid = "SELECT %s::regclass::oid"
    name = [indexing.index_name(space())]
    before = rows_of(oid, name)
    assert create().valid
    assert rows_of(oid, name) == before


def test_its_parameters_are_told_and_others_are_refused():
    remember("Ada drinks tea.", wait=True)
    make = partial(indexing.create_index, using="default", space=space())
    made = make(m=16, ef_construction=64)
    assert (made.m, made.ef_construction) == (16, 64)
    assert make().m == make(ef_construction=64).m == 16
    for m, ef_construction in ((32, None), (None, 128)):
        with pytest.raises(Conflict, match=r"with m=16, ef_construction=64; drop it"):
            make(m=m, ef_construction=ef_construction)
    assert state() == made


def test_one_made_with_pgvectors_own_parameters_tells_them():
    remember("Ada drinks tea.", wait=True)
    name = indexing.index_name(space())
    connection.cursor().execute(
        f"CREATE INDEX {name} ON prism_memory_embedding USING hnsw"
        " ((vector::halfvec(64)) halfvec_cosine_ops)"
    )
    assert (state().m, state().ef_construction) == (16, 64)


def test_while_it_is_built_a_second_build_and_a_drop_are_refused():
    """The second would wait for the first, drop what it made, and begin anew."""
    remember("Ada drinks tea.", wait=True)
    with a_build_that_waits() as (pid, release, came):
        for second in (create, drop):
            with pytest.raises(Conflict, match=f"Backend {pid} of the server builds"):
                second()
        with pytest.raises(CommandError, match="of the server builds"):
            call_command("prism_memory_index", "create")
        assert not Run.objects.exists()
        release.set()
    assert [made.valid for made in came] == [True]
    assert state().valid


def test_who_loses_the_race_to_build_is_refused(monkeypatch):
    """Both looked before either began: PostgreSQL's own locks decide."""
    remember("Ada drinks tea.", wait=True)
    nothing = indexing.IndexState("", exists=False, valid=False, bytes=0)
    with a_build_that_waits() as (_, release, came):
        monkeypatch.setattr(hnsw, "refuse_while_built", Mock())
        monkeypatch.setattr(hnsw, "index_state", Mock(return_value=nothing))
        threading.Timer(0.2, release.set).start()
        with pytest.raises(Conflict, match="in this moment"):
            create()
    assert len(came) == 1
    monkeypatch.undo()
    assert state().exists
    assert create().valid


def test_inside_a_transaction_it_is_refused():
    remember("Ada drinks tea.", wait=True)
    with transaction.atomic(), pytest.raises(Unsupported, match="outside"):
        create()
    assert not space().indexed


def test_writers_go_on_while_it_is_made():
    """The build waits for one writer, and another writes and embeds meanwhile."""
    remember("Ada drinks tea.", wait=True)
    with a_build_that_waits() as (_, release, came):
        remember("Written during the build.", wait=True)
        assert came == []
        release.set()
    assert [made.valid for made in came] == [True]
    hits = make_memory().recall("build", legs="vector").hits
    assert {hit.text for hit in hits} == {
        "Ada drinks tea.",
        "Written during the build.",
    }


def test_one_left_half_made_is_made_anew():
    remember("Ada drinks tea.", wait=True)
    with a_build_that_waits() as (pid, _, came):
        rows_of("SELECT pg_cancel_backend(%s)", [pid])
        end = time.monotonic() + 30
        while not came:
            assert time.monotonic() < end, "the build goes on"
            time.sleep(0.02)
    assert isinstance(came[0], OperationalError)
    half = state()
    assert (half.exists, half.valid) == (True, False)
    assert not space().indexed
    assert create().valid


class TestLost:
    """case_C06: dropped behind our back."""

    @pytest.fixture(autouse=True)
    def _lost(self, _no_index_is_left):
        remember("Ada drinks tea.", "Bob plays chess.", "Cleo sails.", wait=True)
        create()
        self.before = make_memory().recall("chess", legs="vector").hits
        connection.cursor().execute(f'DROP INDEX "{indexing.index_name(space())}"')

    def test_the_state_and_the_health_check_say_so(self):
        assert not state().exists
        (warning,) = check_database(databases=["default"])
        assert warning.id == "prism_memory.W027"
        assert "is gone" in warning.msg

    def test_answers_stay_right(self, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EXACT_SCAN_ROWS": 0}
        hits = make_memory().recall("chess", legs="vector").hits
        assert [hit.id for hit in hits] == [hit.id for hit in self.before]
        assert hits[0].text == "Bob plays chess."

    def test_it_is_made_again(self):
        assert create().valid
        assert check_database(databases=["default"]) == []


def test_an_invalid_one_is_reported():
    remember("Ada drinks tea.", wait=True)
    create()
    rows_of(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass"
        " RETURNING 1",
        [indexing.index_name(space())],
    )
    (warning,) = check_database(databases=["default"])
    assert "is invalid" in warning.msg
    assert create().valid


def test_recall_names_the_same_constants_as_the_index(settings):
    """The planner takes a partial index only where it can prove its predicate."""
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EXACT_SCAN_ROWS": 0}
    remember("Ada drinks tea.", wait=True)
    create()
    with captured() as seen:
        make_memory().recall("tea", legs="vector")
    asked = [item for item in seen.statements if "vector::halfvec(" in item[0]]
    ((statement, given),) = asked  # those of the exact scan cast nothing
    with transaction.atomic():
        # Only the HNSW index gives an order without a sort, whatever the table's size.
        connection.cursor().execute("SET LOCAL enable_seqscan = off")
        connection.cursor().execute("SET LOCAL enable_sort = off")
        plan = rows_of(f"EXPLAIN {statement}", given)
    assert indexing.index_name(space()) in str(plan)


def test_recount_repairs_the_counts_of_one_tenant():
    remember("Ada drinks tea.", "Bob plays chess.", wait=True)
    other = make_scope(tenant="beta")
    remember("Theirs.", scope=other, wait=True)
    empty = make_scope(thread="empty")
    remember("Waits.", scope=empty)
    ScopeRow.objects.update(vectors=77)
    recount = partial(indexing.recount, using="default", tenant="acme", space=space())
    assert recount() == 2
    assert counted() == {make_scope().id: 2, empty.id: 0}
    assert counted("beta") == {other.id: 77}
    assert recount() == 0


@pytest.mark.django_db
def test_a_record_written_anew_counts_once():
    """An often rewritten scope must not look large to the planner."""
    for text in ("first", "second", "third"):
        remember(text, key="same", wait=True)

    assert counted() == {make_scope().id: 1}
    assert indexing.recount(using="default", tenant="acme", space=space()) == 0


def test_the_sizes_of_the_tables_are_told():
    sizes = indexing.table_sizes(using="default")
    assert set(sizes) == {"prism_memory_record", "prism_memory_embedding"}
    assert all(size > 0 for size in sizes.values())
    assert EmbeddingSpace.objects.count() == 0
