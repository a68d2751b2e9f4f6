"""What a process remembers of the places it looked in."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.conf import settings
from prism_memory.recall.candidates import places
from prism_memory.recall.candidates.places import (
    Place,
    Size,
    forget_sizes,
    known_size,
    remember_size,
)
from prism_memory.recall.candidates.plan import Plan
from prism_memory.types import ReadMode, Scope

BOTH = Plan(("vector", "text"))
LARGE = settings.EXACT_SCAN_ROWS + 1


def place(owner: str = "ada", using: str = "default", space_id: int = 1) -> Place:
    return (using, space_id, Scope("acme", owner), ReadMode.CHAIN)


def said(
    vectors: int = 0, *, bounded: bool = False, few: bool = False
) -> dict[str, Any]:
    return {"vectors": vectors, "bounded": bounded, "few": few}


def test_a_place_that_was_never_seen_is_small() -> None:
    assert known_size(place()) == Size(large=False, common=False)


def test_a_place_is_remembered_and_no_other() -> None:
    """Not the same scope in another database or space, or read otherwise."""
    remember_size(place(), Size(large=True))

    assert known_size(place()).large
    others = [
        place("bob"),
        place(using="other"),
        place(space_id=2),
        ("default", 1, Scope("acme", "ada"), ReadMode.EXACT),
        ("default", 1, Scope("other", "ada"), ReadMode.CHAIN),
    ]
    assert not any(known_size(other).large for other in others)


def test_a_new_process_knows_nothing() -> None:
    remember_size(place(), Size(large=True))
    forget_sizes()

    assert known_size(place()) == Size()


def test_so_many_places_are_remembered_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A process that sees many owners does not grow for ever."""
    monkeypatch.setattr(places, "PLACES", 3)
    for number in range(50):
        remember_size(place(str(number)), Size(large=True))
        assert known_size(place(str(number))).large
        assert len(places._known) <= 3


@pytest.mark.parametrize(("vectors", "large"), [(LARGE, True), (LARGE - 1, False)])
def test_a_place_is_large_beyond_what_is_scanned_exactly(
    vectors: int, *, large: bool
) -> None:
    assert Size().seen(BOTH, said(vectors), indexed=True).large is large
    assert Size(large=not large).seen(BOTH, said(vectors), indexed=True).large is large


def test_without_an_index_no_place_is_large() -> None:
    assert not Size(large=True).seen(BOTH, said(LARGE), indexed=False).large


def test_what_was_not_asked_stays_as_it_was() -> None:
    known = Size(large=True, common=True)

    assert known.seen(Plan(("recency",)), said(), indexed=True) == known
    assert known.seen(Plan(("text",)), said(), indexed=True).large
    assert known.seen(Plan(("vector",)), said(LARGE), indexed=True).common


def test_common_words_are_learnt_once() -> None:
    """A question of rare words, or one of a narrower sight, does not undo it."""
    bounded = Plan(("text",), bounded=True)
    known = Size().seen(bounded, said(bounded=True), indexed=True)

    assert known.common
    assert known.seen(bounded, said(), indexed=True).common
    assert Size().seen(bounded, said(), indexed=True).common


def test_rare_words_are_no_sign_of_common_ones() -> None:
    assert not Size().seen(Plan(("text",)), said(), indexed=True).common
