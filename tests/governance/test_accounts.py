"""A record that is gone, or back: what the audit must say of it."""

from __future__ import annotations

import ast
import datetime as dt
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

import prism_memory
from prism_memory import audit, lifecycle
from prism_memory.governance.erasure import pages
from prism_memory.models import AuditEvent, Record, Tombstone
from prism_memory.types import Actor, Entry, Lineage
from tests.factories import make_memory, make_scope, remember
from tests.governance.test_content import (
    COPIED,
    delete,
    edit,
    forget,
    seal_all,
    sealed,
)
from tests.governance.test_deletions_accounted import erased
from tests.governance.trail import run, seal, verify, wrongs

pytestmark = pytest.mark.django_db

LATER = dt.timedelta(hours=1)


def stone(record_id: uuid.UUID, **changes: Any) -> None:
    """Forge a tombstone."""
    ref = f"record:{record_id}"
    given = {
        "target_ref": ref,
        "root_ref": ref,
        "scope_id": make_scope().id,
        "reason": "forgotten",
        "actor": "user:1",
        **changes,
    }
    Tombstone.objects.create(tenant="acme", **given)


def vanished(*ids: uuid.UUID) -> list[tuple[str, str]]:
    return [("record_vanished", f"record:{record_id}") for record_id in sorted(ids)]


def told(action: str) -> AuditEvent:
    return AuditEvent.objects.get(tenant="acme", action=action)


class TestBorrowed:
    """A forged tombstone that names the moment and the actor of some old event."""

    def test_of_another_verb(self) -> None:
        ids = sealed()
        make_memory().set_consent(ids[0], visible=True)
        event = told("memory.set_consent")
        delete(ids[2])
        stone(ids[2], at=event.at, actor=event.actor)
        assert wrongs(content=True) == vanished(ids[2])

    def test_of_a_deletion_by_another_actor(self) -> None:
        ids = sealed()
        forget(ids[:1])
        delete(ids[2])
        stone(ids[2], at=told("memory.forget").at, actor="user:9")
        assert wrongs(content=True) == vanished(ids[2])

    def test_of_a_deletion_of_something_else(self) -> None:
        ids = sealed()
        forget(ids[:1])
        event = told("memory.forget")
        delete(ids[2])
        run("DELETE FROM prism_memory_tombstone")  # so that the number fits
        stone(ids[2], at=event.at, actor=event.actor)
        assert wrongs(content=True) == vanished(ids[0], ids[2])

    def test_of_a_deletion_in_another_scope(self) -> None:
        ids = sealed()
        forget(ids[:2])
        event = told("memory.forget")
        delete(ids[2])
        run("DELETE FROM prism_memory_tombstone")
        other = make_scope(owner="bob").id
        stone(ids[2], at=event.at, actor=event.actor, scope_id=other)
        assert ids[2] in {uuid.UUID(ref[7:]) for _, ref in wrongs(content=True)}

    def test_of_a_deletion_for_another_reason(self) -> None:
        ids = sealed()
        forget(ids[:2])
        event = told("memory.forget")
        delete(ids[2])
        Tombstone.objects.filter(target_ref=f"record:{ids[0]}").delete()
        stone(ids[2], at=event.at, actor=event.actor, reason="expired")
        assert f"record:{ids[2]}" in {ref for _, ref in wrongs(content=True)}

    def test_of_a_deletion_that_was_of_fewer(self) -> None:
        """An event accounts for as many as it says, and not for one more."""
        ids = sealed()
        forget(ids[:2])
        assert not wrongs(content=True)
        event = told("memory.forget")
        delete(ids[2])
        stone(ids[2], at=event.at, actor=event.actor)
        assert wrongs(content=True) == vanished(*ids[:3])
        earlier = event.at - LATER  # one more, of another moment, makes no room
        stone(ids[2], at=earlier, root_ref=f"record:{ids[0]}")
        assert wrongs(content=True) == vanished(*ids[:3])

    def test_of_a_deletion_that_was_of_fewer_beside_another(self) -> None:
        """What another did in the same moment does not count for this one."""
        ids = sealed()
        at = timezone.now()
        given: dict[str, Any] = {"using": "default", "scope": make_scope(), "at": at}
        for place, actor in enumerate(("user:1", "user:2")):
            lifecycle.forget(**given, ids=[ids[place]], actor=Actor(actor))
        assert not wrongs(content=True)
        delete(ids[2])
        stone(ids[2], at=at, root_ref=f"record:{ids[0]}")
        assert wrongs(content=True) == vanished(ids[0], ids[2])
        run("DELETE FROM prism_memory_tombstone WHERE actor = 'user:1'")
        stone(ids[2], at=at, root_ref=f"record:{ids[1]}")
        assert wrongs(content=True) == vanished(ids[0], ids[2])

    def test_of_what_is_no_deletion_though_it_counts_as_one(self) -> None:
        ids = sealed()
        at = timezone.now()
        audit.record(
            using="default",
            tenant="acme",
            actor=Actor("user:1"),
            action="memory.test",
            target=f"record:{ids[2]}",
            at=at,
            detail={"deleted": 9},
        )
        delete(ids[2])
        stone(ids[2], at=at)
        assert wrongs(content=True) == vanished(ids[2])

    def test_of_a_deletion_that_was_sealed_before(self) -> None:
        """Though its own tombstone made room: what was listed went after that."""
        ids = sealed()
        forget(ids[:1])
        event = told("memory.forget")
        seal_all()
        delete(ids[2])
        run("DELETE FROM prism_memory_tombstone")
        gone = f"record:{ids[0]}"
        stone(ids[2], at=event.at, actor=event.actor, root_ref=gone)
        assert wrongs(content=True) == vanished(ids[2])

    def test_of_a_hiding(self) -> None:
        ids = sealed()
        make_memory().forget(ids[0], hold=True)
        event = told("memory.forget")
        seal_all()
        delete(ids[0])
        stone(ids[0], at=event.at, actor=event.actor)
        assert wrongs(content=True) == vanished(ids[0])

    def test_of_an_erasure_that_never_ended(self) -> None:
        ids = sealed()
        audit.record(
            using="default",
            tenant="acme",
            actor=Actor("user:1"),
            action="memory.erase_start",
            target=f"scope:{make_scope().id}",
            at=timezone.now(),
        )
        seal_all()
        delete(ids[2])
        stone(ids[2], at=timezone.now())
        assert wrongs(content=True) == vanished(ids[2])


def test_what_retention_only_blocked_may_not_vanish() -> None:
    memory = make_memory()
    derived = Entry("Derived.", lineage=Lineage(("root",)))
    ids = list(memory.remember([Entry("Root.", key="root"), derived]).accepted)
    remember("Other.", "Third.")
    seal_all()
    memory.apply_retention(max_entries=3)
    assert Record.objects.filter(id=ids[1]).exists()
    assert not wrongs(content=True)
    run("DELETE FROM prism_memory_lineageedge")
    delete(ids[1])
    assert f"record:{ids[1]}" in {ref for _, ref in wrongs(content=True)}


def test_what_was_blocked_first_and_forgotten_later_is_accounted_for() -> None:
    memory = make_memory()
    derived = Entry("Derived.", lineage=Lineage(("root",)))
    ids = list(memory.remember([Entry("Root.", key="root"), derived]).accepted)
    remember("Other.", "Third.")
    seal_all()
    memory.apply_retention(max_entries=3)
    erased(record_id=ids[1])
    assert not Record.objects.filter(id__in=ids).exists()
    assert not wrongs(content=True)


def test_what_a_hold_kept_of_an_erasure_may_go_later() -> None:
    """Its tombstone stands already, and an event of before goes with it."""
    memory = make_memory()
    derived = Entry("Derived.", lineage=Lineage(("root",)))
    ids = list(memory.remember([Entry("Root.", key="root"), derived]).accepted)
    held = memory.hold(record=ids[1])
    seal_all()
    erased(record_id=ids[0])
    seal_all()
    memory.release(held.id)
    seal_all()
    erased(record_id=ids[1])
    assert not Record.objects.exists()
    assert not wrongs(content=True)


def test_an_erasure_of_more_than_a_page_is_accounted_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And what is derived goes from its far end, in transactions of its own."""
    monkeypatch.setattr(pages, "PAGE", 2)
    memory = make_memory()
    ids = list(memory.remember([Entry("Root.", key="0"), "a", "b", "c"]).accepted)
    for place in range(1, 6):
        before = Lineage((str(place - 1),))
        memory.remember(Entry(f"Derived {place}.", key=str(place), lineage=before))
    seal_all()
    erased(record_id=ids[0])
    assert not wrongs(content=True)
    erased()
    assert not Record.objects.exists()
    assert not wrongs(content=True)
    assert AuditEvent.objects.filter(action="memory.erase_page").count() > 2


def sealed_long_ago(*texts: str) -> list[uuid.UUID]:
    """Remember texts; the list is sealed when they are an hour old."""
    ids = sorted(remember(*(texts or ("One.", "Two.", "Three."))))
    seal(content=True, at=timezone.now() + LATER)
    return ids


def bring_back(old: dict[str, Any]) -> None:
    """Insert a row as it was, with its id and signature."""
    Record.objects.create(**old)


def row_of(record_id: uuid.UUID) -> dict[str, Any]:
    (row,) = Record.objects.filter(id=record_id).values("id", *COPIED)
    return dict(row)


class TestBack:
    def test_one_that_a_tombstone_stands_on(self) -> None:
        ids = sealed()
        old = row_of(ids[1])
        forget(ids[1:2])
        seal_all()
        bring_back(old)
        assert ("record_back", f"record:{ids[1]}") in wrongs(content=True)

    def test_one_that_was_erased(self) -> None:
        ids = sealed()
        old = row_of(ids[1])
        erased(record_id=ids[1])
        seal_all()
        bring_back(old)
        assert ("record_back", f"record:{ids[1]}") in wrongs(content=True)

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_one_whose_tombstone_is_gone_too(self, place: int) -> None:
        ids = sealed_long_ago()
        old = row_of(ids[place])
        forget([ids[place]])
        seal(content=True, at=timezone.now() + 2 * LATER)
        assert not wrongs(content=True)
        bring_back(old)
        run("DELETE FROM prism_memory_tombstone")
        assert wrongs(content=True) == [("unlisted", f"record:{ids[place]}")]
        assert verify(content=True).unlisted == 1
        (one,) = seal(content=True, at=timezone.now() + 3 * LATER)
        assert one.violations == 1
        event = told("audit.violation")
        assert event.detail["refs"] == [f"record:{ids[place]}"]

    def test_one_that_another_blocked_in_that_moment_is_not_back(self) -> None:
        ids = sealed()
        forget(ids[:1])
        stone(ids[1], at=told("memory.forget").at, actor="user:9")
        assert not wrongs(content=True)

    def test_a_new_one_is_not_listed_and_nothing_is_wrong(self) -> None:
        sealed()
        remember("Five.")
        assert not wrongs(content=True)

    def test_one_that_committed_ten_minutes_late_is_believed(self) -> None:
        now = timezone.now()
        seal(content=True, at=now)
        remember("One.")
        seal(content=True, at=now)
        late = sorted(remember("Late."))[0]
        minutes = dt.timedelta(minutes=10)
        for ago, wrong in ((minutes / 2, 0), (2 * minutes, 1)):
            milliseconds = int((now - ago).timestamp() * 1000)
            moved = uuid.UUID(int=milliseconds << 80 | (late.int & (1 << 80) - 1))
            run("DELETE FROM prism_memory_embedding")
            edit(late, "id = %(to)s", to=moved)
            late = moved
            unlisted = [one for one in wrongs(content=True) if one[0] == "unlisted"]
            assert len(unlisted) == wrong

    def test_what_a_hold_kept_of_an_erasure_is_not_back(self) -> None:
        memory = make_memory()
        derived = Entry("Derived.", lineage=Lineage(("root",)))
        ids = list(memory.remember([Entry("Root.", key="root"), derived]).accepted)
        memory.hold(record=ids[1])
        seal_all()
        erased(record_id=ids[0])
        assert Record.objects.filter(id=ids[1]).exists()
        assert not wrongs(content=True)

    def test_what_is_derived_and_kept_is_not_back(self) -> None:
        memory = make_memory()
        derived = Entry("Derived.", lineage=Lineage(("root",)))
        ids = list(memory.remember([Entry("Root.", key="root"), derived]).accepted)
        memory.hold(record=ids[1])
        seal_all()
        memory.forget(ids[0])
        assert Record.objects.filter(id=ids[1]).exists()
        assert not wrongs(content=True)


REMOVERS = {
    "prism_memory.lifecycle.removal",
    "prism_memory.governance.retention.due",
    "prism_memory.governance.erasure.pages",
}
REMOVES = {"remove", "remove_due", "remove_page", "delete_bodies"}


def test_every_verb_that_deletes_is_one_that_accounts() -> None:
    """A module that removes records writes such an event, and no other does."""
    root = Path(prism_memory.__file__).parent
    found: set[str] = set()
    for path in root.rglob("*.py"):
        tree = ast.parse(path.read_text())
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        names = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module in REMOVERS
            for alias in node.names
        }
        if not names & REMOVES:
            continue
        defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        actions = {
            keyword.value.value
            for node in calls
            for keyword in node.keywords
            if keyword.arg == "action" and isinstance(keyword.value, ast.Constant)
        }
        passes_on = defined & (REMOVES - {"remove_page"}) or "remove_page" in names
        assert actions or passes_on, path
        found |= {str(action) for action in actions}
    assert found == set(audit.DELETIONS)
