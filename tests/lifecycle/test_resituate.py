"""Index texts follow the setting, and are made anew from what is stored."""

from __future__ import annotations

import datetime as dt
import io
from importlib import import_module
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from prism_memory import indexing, integrity, lifecycle
from prism_memory.models import Embedding, Record, Run
from prism_memory.types import Actor, Entry, Kind, Origin, Trust
from tests.factories import make_memory, make_scope, remember_one
from tests.indexing.conftest import drain

pytestmark = pytest.mark.django_db

NOON = dt.datetime(2026, 1, 1, 12, tzinfo=dt.UTC)
TURN: Any = {"kind": Kind.TURN, "happened_at": NOON, "metadata": {"title": "Honey"}}
SITUATED = "[Context: Honey]\nada: "


@pytest.fixture(autouse=True)
def _others_left_nothing(monkeypatch: Any) -> None:
    """Let no examination see what the tests before left in the tables."""
    module = import_module("prism_memory.indexing.examine")
    for name in ("CHANGED_ROWS", "DEAD_ROWS"):
        monkeypatch.setattr(module, name, 10**9)


def situate(settings: Any, mode: str) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "SITUATE": mode}


def resituate(**given: Any) -> lifecycle.Resituated:
    usual = {"using": "default", "tenant": "acme", "actor": Actor(), "at": NOON}
    return lifecycle.resituate(**{**usual, **given})


def texts(record_id: Any) -> tuple[str | None, str | None]:
    row = Record.objects.get(id=record_id)
    return row.lexical_text, row.embed_text


def run(*words: str) -> Any:
    out = io.StringIO()
    call_command("prism_memory_index", *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_it_goes_to_and_fro_and_leaves_what_a_caller_gave(settings: Any) -> None:
    """B486, B352."""
    ours = remember_one("I keep bees.", **TURN)
    given = remember_one("Mine.", key="k", embed_text="his own", **TURN)
    plain = remember_one("Plain.")
    before = texts(ours), texts(given)
    assert before[0][1] == SITUATED + "I keep bees."
    assert resituate() == lifecycle.Resituated(3, 0, done=True)
    situate(settings, "off")
    assert resituate() == lifecycle.Resituated(3, 2, done=True)
    assert texts(ours) == (None, None)
    assert texts(given) == (None, "his own")
    assert texts(plain) == (None, None)
    situate(settings, "on")
    assert resituate().changed == 2
    assert (texts(ours), texts(given)) == before


def test_nothing_else_of_a_record_changes(settings: Any) -> None:
    record_id = remember_one("I keep bees.", **TURN)
    hidden = {"lexical_text", "embed_text", "search"}

    def rest() -> dict[str, Any]:
        (row,) = Record.objects.filter(id=record_id).values()
        return {name: value for name, value in row.items() if name not in hidden}

    before = rest()
    situate(settings, "off")
    assert resituate().changed == 1
    assert rest() == before
    assert not make_memory().recall("Honey", legs="text").hits


def test_what_waits_waits_for_the_new_text_and_what_stands_answers(
    settings: Any,
) -> None:
    stands = remember_one("I keep bees.", wait=True, **TURN)
    waits = remember_one("You keep wasps.", **TURN)
    situate(settings, "off")
    resituate()
    assert Embedding.objects.get(record_id=stands).vector is not None
    assert drain() == indexing.Drained(embedded=1)
    found = make_memory().recall("You keep wasps.", legs="vector").hits[0]
    assert found.id == waits
    assert found.cosine == pytest.approx(1, abs=0.01)


def test_signatures_stay_true(settings: Any) -> None:
    settings.PRISM_MEMORY = {
        **settings.PRISM_MEMORY,
        "INTEGRITY_KEYS": {"k1": "s" * 40},
    }
    record_id = remember_one("I keep bees.", **TURN)
    situate(settings, "off")
    assert resituate().changed == 1
    given: Any = {"using": "default", "tenant": "acme", "record_ids": [record_id]}
    assert integrity.states(**given) == {record_id: integrity.State.INTACT}


def test_another_tenants_records_are_not_touched(settings: Any) -> None:
    record_id = remember_one("I keep bees.", scope=make_scope(tenant="globex"), **TURN)
    situate(settings, "off")
    assert resituate() == lifecycle.Resituated(0, 0, done=True)
    assert texts(record_id)[1] is not None


def test_it_goes_on_where_it_stopped(settings: Any) -> None:
    memory = make_memory(origin=Origin(Trust.USER, "ada"))
    memory.remember([Entry(f"bees {n}", **TURN) for n in range(5)])
    situate(settings, "off")
    assert resituate(rows=2, max_seconds=0) == lifecycle.Resituated(0, 0, done=False)
    assert resituate(rows=2) == lifecycle.Resituated(5, 5, done=True)
    assert Run.objects.get(kind="situate").state == "done"


class TestRebuild:
    def test_a_rebuild_in_place_follows_the_setting(self, settings: Any) -> None:
        """B486: what the doctor and the check tell of is gone after it."""
        record_id = remember_one("I keep bees.", wait=True, **TURN)
        situate(settings, "off")
        assert indexing.is_situated_otherwise(using="default")
        run("rebuild", "--tenant=acme")
        assert indexing.is_situated_otherwise(using="default")  # of the others
        run("rebuild")
        assert not indexing.is_situated_otherwise(using="default")
        found = make_memory().recall("I keep bees.", legs="vector").hits[0]
        assert found.id == record_id
        assert found.cosine == pytest.approx(1, abs=0.01)
        findings = indexing.examine(using="default", tenants=["acme"])
        assert [one.kind for one in findings] == []


@pytest.mark.django_db(transaction=True)
def test_full_text_is_made_anew_from_what_is_stored() -> None:
    """B290: safe at any time."""
    record_id = remember_one("I keep bees.", **TURN)
    Record.objects.update(lexical_text=None, embed_text=None)
    assert not make_memory().recall("Honey", legs="text").hits
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX prism_memory_record_search")
    assert run("fulltext") == "1 records, 1 with other index texts.\n"
    assert make_memory().recall("Honey", legs="text").hits[0].id == record_id
    before = Record.objects.get().changed_at
    assert run("fulltext") == "1 records, 0 with other index texts.\n"
    assert Record.objects.get().changed_at == before
    findings = list(indexing.examine(using="default", tenants=["acme"]))
    assert [one.kind for one in findings] == []
