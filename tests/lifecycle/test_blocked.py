"""B169: what may not be used any more, page by page, of what is in sight only."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types import Lineage, ReadMode
from tests.factories import make_memory, make_scope, remember, remember_one

pytestmark = pytest.mark.django_db

OWNER = make_scope(agent="", thread="")
BESIDE = [
    make_scope(tenant="globex"),
    make_scope(owner="bob"),
    make_scope(agent="sales"),
    make_scope(thread="chat-2"),
]


def ref(record_id: uuid.UUID) -> str:
    return f"record:{record_id}"


def followed(memory: Any, name: str, limit: int) -> list[Any]:
    """Return all of a list, page by page."""
    found: list[Any] = []
    cursor = None
    while True:
        page = getattr(memory, name)(limit=limit, cursor=cursor)
        rows = page.refs if name == "invalidated_ids" else page.items
        assert len(rows) <= limit
        found += rows
        if (cursor := page.next_cursor) is None:
            return found


def test_everything_blocked_but_what_was_corrected() -> None:
    """B169: also where the body is gone, and what derives from it."""
    gone, hidden, revoked, fixed, fine = remember("a", "b", "c", "d", "e")
    made = remember_one("of a correction", lineage=Lineage((ref(fixed),)))
    held = remember_one("of c", lineage=Lineage((ref(revoked),)))
    memory = make_memory()
    memory.forget(gone)
    memory.forget(hidden, hold=True)
    memory.set_consent(revoked, visible=False)
    memory.correct(fixed, "d anew")
    wanted = sorted(map(ref, (gone, hidden, revoked, held)))
    for limit in (1, 3, 200):
        assert followed(memory, "invalidated_ids", limit) == wanted
    assert ref(made) not in wanted
    memory.set_consent(revoked, visible=True)
    assert followed(memory, "invalidated_ids", 2) == sorted([ref(gone), ref(hidden)])
    assert ref(fine) not in wanted


def test_a_ref_that_is_blocked_twice_is_listed_once() -> None:
    one, two = remember("one", "two")
    made = remember_one("made", lineage=Lineage((ref(one), ref(two))))
    memory = make_memory()
    memory.hold(record=made)
    memory.forget([one, two])
    assert followed(memory, "invalidated_ids", 1) == sorted(map(ref, (one, two, made)))
    assert len(followed(memory, "tombstones", 1)) == 4


def test_what_is_above_is_in_sight_of_a_chain_and_nothing_beside() -> None:
    """case_C02."""
    above, own = remember_one("above", scope=OWNER), remember_one("own")
    make_memory(OWNER).forget(above)
    make_memory().forget(own)
    for scope in BESIDE:
        make_memory(scope).forget(remember_one("beside", scope=scope))
    assert followed(make_memory(), "invalidated_ids", 1) == sorted(
        map(ref, (above, own))
    )
    exact = make_memory(read=ReadMode.EXACT)
    assert followed(exact, "invalidated_ids", 1) == [ref(own)]
    assert [s.target_ref for s in followed(make_memory(), "tombstones", 1)] == [
        ref(own)
    ]
    assert followed(make_memory(OWNER), "invalidated_ids", 1) == [ref(above)]


def test_a_message_from_outside_is_listed_in_its_scope() -> None:
    """B169: a ref of something that is no record."""
    made = remember_one("of a message", lineage=Lineage(("message-1",)))
    make_memory().forget(made)
    assert followed(make_memory(), "invalidated_ids", 5) == [ref(made)]


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_page_has_its_bounds(limit: int) -> None:
    for name in ("holds", "tombstones", "invalidated_ids"):
        with pytest.raises(LimitExceeded):
            getattr(make_memory(), name)(limit=limit)


@pytest.mark.parametrize("name", ["tombstones", "holds"])
def test_a_cursor_of_nobody_is_refused(name: str) -> None:
    for cursor in ("x", "", "\0"):
        with pytest.raises(Invalid):
            getattr(make_memory(), name)(cursor=cursor)
    with pytest.raises(Invalid):
        make_memory().invalidated_ids(cursor="\0")


def test_the_cursor_of_a_stranger_opens_nothing() -> None:
    """case_C02."""
    bob = make_memory(make_scope(owner="bob"))
    bob.forget(remember("a", "b", scope=bob.scope))
    cursor = bob.tombstones(limit=1).next_cursor
    with pytest.raises(Invalid):
        make_memory().tombstones(cursor=cursor)
