"""A process that dies between any two statements of a verb leaves nothing half done."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from prism_memory.models import Record
from prism_memory.types import (
    Actor,
    Grant,
    Lineage,
    Permission,
    SourceRef,
)
from tests.factories import (
    ADA,
    make_fact,
    make_memory,
    make_record,
    make_scope,
    remember_one,
)
from tests.tables import counts, table_names

pytestmark = pytest.mark.django_db

MOST = 200


class Crash(BaseException):
    """Nobody catches it."""


class Crashing:
    """Let the n-th statement fail, before it is run or after."""

    def __init__(self, number: int, *, after: bool) -> None:
        self.left = number
        self.after = after

    def __call__(
        self, execute: Any, sql: Any, params: Any, many: bool, context: Any
    ) -> Any:
        if sql.startswith(("SAVEPOINT", "RELEASE", "ROLLBACK")):
            return execute(sql, params, many, context)
        self.left -= 1
        if self.left:
            return execute(sql, params, many, context)
        if self.after:
            execute(sql, params, many, context)
        raise Crash


def everything() -> dict[str, Any]:
    """Return every row of every table, as text."""
    found = {}
    with connection.cursor() as cursor:
        for name in table_names():
            cursor.execute(f"SELECT row_to_json(t)::text FROM {name} AS t")  # noqa: S608
            found[name] = sorted(row for (row,) in cursor.fetchall())
    return found


def governor() -> Grant:
    return Grant(make_scope(), frozenset(Permission), ADA, Actor())


def held(memory: Any, source: uuid.UUID) -> Any:
    return memory.hold(record=source)


VERBS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "forget": (lambda *_: None, lambda m, i, _: m.forget(i)),
    "hide": (lambda *_: None, lambda m, i, _: m.forget(i, hold=True)),
    "thread": (lambda *_: None, lambda m, *_: m.forget_thread()),
    "hold": (lambda *_: None, lambda m, i, _: m.hold(record=i)),
    "release": (held, lambda m, _, made: m.release(made.id)),
    "release_forgotten": (
        lambda m, i: m.forget(i, hold=True),
        lambda m, i, _: m.release_forgotten(i),
    ),
    "restore": (
        lambda m, i: m.forget(i, hold=True),
        lambda m, i, _: m.release_forgotten(i, restore=True),
    ),
    "propagate": (
        lambda *_: None,
        lambda m, *_: m.propagate_deletion(by=governor(), source="chat"),
    ),
    "revoke": (lambda *_: None, lambda m, i, _: m.set_consent(i, visible=False)),
}


def make_facts(source: Record) -> None:
    """One that stands on a record alone, and one that a tool's words back up too."""
    owner = make_scope(agent="", thread="")
    tool = make_record("a tool's", scope=owner, trust="tool")
    make_fact("alone", evidence=[source])
    make_fact("both", evidence=[source, tool])


@pytest.mark.parametrize("verb", VERBS)
def test_a_crash_at_any_statement_leaves_all_as_it_was(verb: str) -> None:
    """B146, case_C10: it was done, or it was not.

    After one statement is before the next: of these two, each second time the one.
    """
    prepare, do = VERBS[verb]
    source = remember_one("source", key="source", source=SourceRef("chat"), wait=True)
    remember_one("made", lineage=Lineage(("source",)), wait=True)
    make_facts(Record.objects.get(id=source))
    made = prepare(make_memory(), source)
    before = everything()
    for number in range(1, MOST):
        crashing = Crashing(number, after=number % 2 == 0)
        try:
            with connection.execute_wrapper(crashing):
                do(make_memory(), source, made)
        except Crash:
            said = Record.objects.filter(kind="entry", scope_id=make_scope().id)
            if verb == "thread" and not said.exists():
                break  # the batch was done; it fell over looking for another
            assert everything() == before, number
        else:
            break
    assert number > 5
    assert everything() != before


def test_a_thread_that_crashes_late_goes_on_from_there() -> None:
    """B149: batches before the crash are done; the same call does the rest."""
    memory = make_memory()
    memory.remember([f"n {n}" for n in range(150)])
    deletions = 0

    def crash(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal deletions
        deletions += sql.startswith('DELETE FROM "prism_memory_record"')
        if deletions == 2:
            raise Crash
        return execute(sql, params, many, context)

    with connection.execute_wrapper(crash), pytest.raises(Crash):
        memory.forget_thread()
    assert Record.objects.count() == 150 - 64
    assert memory.forget_thread().deleted == 150 - 64
    assert not Record.objects.exists()
    assert counts()["prism_memory_tombstone"] == 150
