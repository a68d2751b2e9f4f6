"""End what ``forget(hold=True)`` began: forget for good, or show again."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from prism_memory.errors import Conflict
from prism_memory.models import AuditEvent, Record, Tombstone
from prism_memory.types import Lineage
from tests.factories import make_memory, make_scope, remember_one
from tests.tables import counts, holding

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-4711"


def listed() -> set[str]:
    return {item.text for item in make_memory().list()}


@pytest.fixture
def hidden(db: None) -> uuid.UUID:
    source = remember_one(SECRET, key="source")
    remember_one(f"of {SECRET}", key="made", lineage=Lineage(("source",)))
    make_memory().forget(source, hold=True)
    assert not listed()
    return source


def test_it_is_forgotten_for_good(hidden: uuid.UUID) -> None:
    """B152, B154."""
    done = make_memory().release_forgotten(hidden, reason="over")
    assert (done.deleted, done.lifted, done.missing) == (2, 2, ())
    assert not holding(SECRET)
    event = AuditEvent.objects.get(action="memory.release_forgotten")
    assert (event.target, event.reason) == (f"record:{hidden}", "over")
    assert event.detail["restore"] is False


def test_or_shown_again_with_what_is_derived(hidden: uuid.UUID) -> None:
    done = make_memory().release_forgotten([hidden], restore=True)
    assert (done.deleted, done.lifted) == (0, 2)
    assert listed() == {SECRET, f"of {SECRET}"}
    assert not Tombstone.objects.filter(cleared_at=None).exists()
    assert make_memory().forget(hidden).deleted == 2


def test_what_else_blocks_it_stands(hidden: uuid.UUID) -> None:
    """B142."""
    make_memory().set_consent(hidden, visible=False)
    make_memory().release_forgotten(hidden, restore=True)
    assert listed() == set()
    make_memory().set_consent(hidden, visible=True)
    assert listed() == {SECRET, f"of {SECRET}"}


def test_what_another_root_hid_stays_hidden_and_held(hidden: uuid.UUID) -> None:
    """B154: each root lifts its own."""
    made = Record.objects.get(key="made").id
    make_memory().forget(made, hold=True)
    make_memory().release_forgotten(hidden, restore=True)
    assert listed() == {SECRET}
    assert make_memory().forget(made).kept == (made,)
    make_memory().release_forgotten(made, restore=True)
    assert listed() == {SECRET, f"of {SECRET}"}


def test_what_was_derived_meanwhile_comes_back_too(hidden: uuid.UUID) -> None:
    remember_one("later", lineage=Lineage(("made",)))
    make_memory().release_forgotten(hidden, restore=True)
    assert "later" in listed()


def test_another_hold_stops_the_forgetting_not_the_restoring(
    hidden: uuid.UUID,
) -> None:
    """To lift the one would show what the other only keeps."""
    held = make_memory().hold(record=hidden)
    before = counts()
    with pytest.raises(Conflict) as refused:
        make_memory().release_forgotten(hidden)
    assert refused.value.field == "ids"
    assert counts() == before
    assert not listed()
    assert not Tombstone.objects.exclude(cleared_at=None).exists()
    make_memory().release(held.id)
    assert make_memory().release_forgotten(hidden).deleted == 2


def test_a_held_derivation_stays_hidden(hidden: uuid.UUID) -> None:
    made = Record.objects.get(key="made").id
    make_memory().hold(record=made)
    done = make_memory().release_forgotten(hidden)
    assert (done.deleted, done.kept) == (1, (made,))
    assert listed() == set()


def test_what_is_not_hidden_by_such_a_hold_is_missing(hidden: uuid.UUID) -> None:
    """Neither a plain record, nor one that derives from the hidden one."""
    plain, unknown = remember_one("plain"), uuid.uuid4()
    made = Record.objects.get(key="made").id
    for restore in (False, True):
        before = counts()
        given = [plain, made, unknown]
        done = make_memory().release_forgotten(given, restore=restore)
        assert {*done.missing} == {*given}
        assert counts() == before
    assert listed() == {"plain"}


@pytest.mark.parametrize("restore", [False, True])
@pytest.mark.parametrize("level", ["tenant", "owner", "agent", "thread"])
def test_a_stranger_releases_nothing(
    hidden: uuid.UUID, level: str, restore: bool
) -> None:
    stranger = make_memory(make_scope(**{level: "other"}))
    before = counts()
    assert stranger.release_forgotten(hidden, restore=restore).missing == (hidden,)
    assert counts() == before
    assert not listed()


@pytest.mark.parametrize("none", [[], ()])
def test_no_ids_are_nothing(hidden: uuid.UUID, none: Any) -> None:
    """case_C04."""
    before = counts()
    assert make_memory().release_forgotten(none).lifted == 0
    assert counts() == before
