"""``prism_memory_doctor``: each finding is made, told, and mended where it may be."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from prism_memory import indexing
from prism_memory.indexing.cure import CURES
from prism_memory.models import Embedding, EmbeddingSpace, Record
from prism_memory.models import Scope as ScopeRow
from tests.factories import make_memory, make_scope, remember, remember_one
from tests.indexing.conftest import counted, drain, space
from tests.indexing.entries import ENTRIES
from tests.indexing.two_spaces import building, configure
from tests.left import see_nothing_left

COMMAND = "prism_memory_doctor"
HNSW = "USING hnsw ((vector::halfvec(64)) halfvec_cosine_ops)"


def kinds(result: Any) -> dict[str, int]:
    return {one["kind"]: one["count"] for one in result.json["findings"]}


@pytest.fixture(autouse=True)
def _others_left_nothing(db: None, monkeypatch: Any) -> None:
    see_nothing_left(monkeypatch)


def ask(sql: str, *values: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def row(record_id: Any) -> Any:
    return Embedding.objects.filter(tenant="acme", record_id=record_id)


@pytest.mark.django_db
class TestVectors:
    def test_nothing_is_wrong(self, run: Any) -> None:
        remember("one", "two", wait=True)
        result = run(COMMAND)
        assert (result.code, result.out) == (0, "Nothing is wrong.\n")

    def test_records_without_a_vector_are_queued(self, run: Any) -> None:
        kept, lost = remember("one", "two", wait=True)
        row(lost).delete()
        ScopeRow.objects.update(vectors=1)
        result = run(COMMAND, "--json")
        assert (result.code, kinds(result)) == (1, {"vectors_missing": 1})
        result = run(COMMAND, "--fix", "--json")
        assert (result.code, result.json["findings"][0]["cured"]) == (0, 1)
        assert drain() == indexing.Drained(embedded=1)
        assert row(kept).get().vector is not None
        assert run(COMMAND).code == 0

    def test_vectors_of_another_text_are_queued(self, run: Any) -> None:
        (stale, _) = remember("one", "two", wait=True)
        Record.objects.filter(id=stale).update(text="one, edited behind its back")
        assert kinds(run(COMMAND, "--json")) == {"vectors_stale": 1}
        assert run(COMMAND, "--fix").code == 0
        assert row(stale).get().vector is None
        assert drain() == indexing.Drained(embedded=1)
        found = make_memory().recall("edited behind its back", legs="vector")
        assert found.hits[0].id == stale
        assert run(COMMAND).code == 0

    def test_vectors_of_retired_records_go(self, run: Any) -> None:
        """B488."""
        (gone, kept) = remember("one", "two", wait=True)
        Record.objects.filter(id=gone).update(retired_at=timezone.now())
        assert kinds(run(COMMAND, "--json")) == {"vectors_orphaned": 1}
        result = run(COMMAND, "--fix", "--json")
        assert result.json["findings"][0]["cured"] == 1
        assert (row(gone).count(), row(kept).count()) == (0, 1)
        assert kinds(run(COMMAND, "--json")) == {}

    def test_vectors_of_another_width_are_made_anew(self, run: Any) -> None:
        """B224, B484: they are found before they are compared with others."""
        (wrong, _) = remember("one", "two", wait=True)
        row(wrong).update(vector=[1.0, *[0.0] * 31])
        assert kinds(run(COMMAND, "--json")) == {"width_drift": 1}
        assert run(COMMAND, "--fix").code == 0
        assert drain() == indexing.Drained(embedded=1)
        assert run(COMMAND).code == 0

    def test_what_was_given_up_is_told_and_left(self, run: Any) -> None:
        record_id = remember_one("one")
        row(record_id).update(failed_at=timezone.now(), error="Too long.")
        result = run(COMMAND, "--fix", "--json")
        assert (result.code, kinds(result)) == (1, {"vectors_failed": 1})
        (found,) = result.json["findings"]
        assert (found["curable"], found["cured"]) == (False, None)
        assert "prism_memory_index retry" in run(COMMAND).out

    def test_counts_are_made_right(self, run: Any) -> None:
        remember("one", "two", wait=True)
        ScopeRow.objects.update(vectors=7)
        assert kinds(run(COMMAND, "--json")) == {"counts_off": 1}
        assert run(COMMAND, "--fix").code == 0
        assert counted() == {make_scope().id: 2}

    def test_another_tenants_rows_are_not_touched(self, run: Any) -> None:
        for tenant in ("acme", "globex"):
            remember("one", scope=make_scope(tenant=tenant), wait=True)
        ScopeRow.objects.update(vectors=7)
        assert run(COMMAND, "--tenant=acme", "--fix").code == 0
        assert counted("globex") == {make_scope(tenant="globex").id: 7}
        assert run(COMMAND, "--tenant=acme").code == 0
        assert run(COMMAND).code == 1

    def test_what_is_being_built_may_lack_vectors(
        self, run: Any, settings: Any
    ) -> None:
        configure(settings)
        remember_one("one", wait=True)
        building()
        assert run(COMMAND).code == 0


@pytest.mark.django_db
class TestSpaces:
    def test_another_embedder_is_told(self, run: Any, settings: Any) -> None:
        remember_one("one", wait=True)
        configure(settings, EMBEDDERS={"default": ENTRIES["next"]})
        result = run(COMMAND, "--fix", "--json")
        assert (result.code, kinds(result)) == (1, {"embedder_changed": 1})
        assert "never mixed" in result.json["findings"][0]["advice"]

    def test_another_way_of_situating_is_told(self, run: Any, settings: Any) -> None:
        """B486."""
        remember_one("one", wait=True)
        configure(settings, SITUATE="off")
        result = run(COMMAND, "--json")
        assert (result.code, kinds(result)) == (1, {"situate_changed": 1})
        assert "rebuild" in run(COMMAND).out

    def test_a_large_scope_without_an_index_is_told(
        self, run: Any, settings: Any
    ) -> None:
        configure(settings, EXACT_SCAN_ROWS=1)
        remember("one", "two", wait=True)
        assert kinds(run(COMMAND, "--json")) == {"index_wanted": 1}
        result = run(COMMAND, "--fix", "--json")  # the test's transaction is around it
        assert result.json["findings"][0]["error"] == "unsupported"


@pytest.mark.django_db(transaction=True)
def test_indexes_are_found_lost_and_made_again(run: Any) -> None:
    """case_C06, B290, B483: answers stay right, and it is mended online."""
    one = remember_one("Ada keeps bees.", wait=True)
    here = space()
    name = indexing.index_name(here)

    def mended(kind: str) -> None:
        found = run(COMMAND, "--json")
        assert (found.code, kinds(found)) == (1, {kind: 1})
        for legs in ("vector", "text"):
            assert make_memory().recall("Ada bees", legs=legs).hits[0].id == one
        found = run(COMMAND, "--fix", "--json")
        assert (found.code, found.json["left"]) == (0, 0)
        assert run(COMMAND).code == 0

    EmbeddingSpace.objects.update(index_mode="hnsw")
    mended("index_missing")
    ask("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = %s::regclass", name)
    mended("index_invalid")
    ask(f"CREATE INDEX prism_memory_hnsw_999 ON prism_memory_embedding {HNSW}")
    mended("index_left_over")
    ask("DROP INDEX prism_memory_record_search")
    mended("record_index_missing")
    half = "UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = %s::regclass"
    ask(half, "prism_memory_record_search")
    mended("record_index_invalid")
    assert indexing.index_state(using="default", space=here).valid
    indexing.drop_index(using="default", space=here)


@pytest.mark.django_db(transaction=True)
def test_tables_are_tended(run: Any, monkeypatch: Any) -> None:
    module = import_module("prism_memory.indexing.examine")
    remember(*(f"note {n}" for n in range(60)), wait=True)
    ask("SELECT pg_stat_force_next_flush()")
    for table in ("record", "embedding", "scope"):
        ask(f"VACUUM (ANALYZE) prism_memory_{table}")
    monkeypatch.setattr(module, "CHANGED_ROWS", 50)
    monkeypatch.setattr(module, "DEAD_ROWS", 100)

    def found() -> dict[str, int]:
        ask("SELECT pg_stat_force_next_flush()")
        return kinds(run(COMMAND, "--json"))

    assert found() == {}
    Record.objects.update(importance=0.5)
    assert found() == {"statistics_old": 60}
    assert run(COMMAND, "--fix").code == 0
    assert found() == {}
    Record.objects.update(importance=0.6)
    assert list(found()) == ["table_bloated"]
    assert run(COMMAND, "--fix").code == 0
    assert found() == {}
    ask("SELECT pg_stat_reset_single_table_counters('prism_memory_record'::regclass)")
    Record.objects.update(importance=0.7)
    ask("SELECT pg_stat_force_next_flush()")
    monkeypatch.setattr(module, "CHANGED_ROWS", 0)
    assert "statistics_missing" in found()
    assert run(COMMAND, "--fix").code == 0


def test_every_cure_is_of_a_finding_that_is_tested() -> None:
    source = import_module(__name__).__file__
    assert source is not None
    with open(source) as file:
        text = file.read()
    assert all(f'"{kind}"' in text for kind in CURES)
