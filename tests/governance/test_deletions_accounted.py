"""Every way in which this app deletes records is accounted for when they are sealed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.governance.erasure import erase
from prism_memory.models import Record
from prism_memory.types import Actor, Entry, Lineage, SourceRef
from tests.factories import make_memory, make_scope, remember_one
from tests.governance.trail import run, seal, verify, wrongs

pytestmark = pytest.mark.django_db

Ids = list[uuid.UUID]


def erased(**given: Any) -> object:
    return erase(
        using="default",
        actor=Actor("user:1"),
        at=timezone.now(),
        **{"scope": make_scope(), **given},
    )


WAYS: dict[str, Callable[[Ids], object]] = {
    "forget": lambda ids: make_memory().forget(ids[:1]),
    "forget a thread": lambda _: make_memory().forget_thread(),
    "retention": lambda _: make_memory().apply_retention(max_entries=1),
    "erase a record": lambda ids: erased(record_id=ids[0]),
    "erase a source": lambda _: erased(source_key="chat"),
    "erase an owner": lambda _: erased(scope=make_scope(agent="", thread="")),
    "erase a tenant": lambda _: erased(scope=make_scope(owner="", agent="", thread="")),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_deletion_by_the_app_is_no_violation(way: Callable[[Ids], object]) -> None:
    memory = make_memory()
    first = Entry("First.", key="first", source=SourceRef("chat", 1))
    derived = Entry("Derived.", lineage=Lineage(("first",)))
    ids = list(memory.remember([first, "Second.", derived]).accepted)
    remember_one("Third.", scope=make_scope(thread="other"))
    seal(content=True, at=timezone.now())
    before = Record.objects.filter(tenant="acme").count()

    way(ids)

    assert Record.objects.filter(tenant="acme").count() < before
    assert not verify(content=True).findings.listed
    assert not sum(s.violations for s in seal(content=True, at=timezone.now()))


def test_a_row_that_went_after_an_erasure_ended_is_missed() -> None:
    """What it left is not accounted for by it, whatever tombstone is forged."""
    gone, left = make_memory().remember(["First.", "Second."]).accepted
    seal(content=True, at=timezone.now())
    erased(record_id=gone)
    given = {"id": uuid.uuid4(), "left": left, "ref": f"record:{left}"}
    run("DELETE FROM prism_memory_embedding")
    run("DELETE FROM prism_memory_record WHERE id = %(left)s", given)
    run(
        "INSERT INTO prism_memory_tombstone (id, tenant, target_ref, root_ref, reason,"
        " hold, supersedes_ref, actor, at) VALUES (%(id)s, 'acme', %(ref)s, %(ref)s,"
        " 'forgotten', FALSE, '', 'user:1', now() + interval '1 hour')",
        given,
    )
    assert wrongs(content=True) == [("record_vanished", f"record:{left}")]
