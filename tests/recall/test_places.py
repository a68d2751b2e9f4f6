"""What a process remembers of the places it looked in."""

from __future__ import annotations

from typing import Any

import pytest

from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.db.filters import compile_filter
from prism_memory.recall.candidates import places
from prism_memory.recall.candidates.places import (
    INDEX_AGAIN,
    Narrowed,
    Place,
    Size,
    count_page,
    forget_sizes,
    is_index_short,
    known_size,
    remember_short,
    remember_size,
)
from prism_memory.recall.candidates.plan import Plan
from prism_memory.recall.narrowing import digest
from prism_memory.types import Kind, ReadMode, Scope, Tier
from tests.factories import NOON

BOTH = Plan(("vector", "text"))
LARGE = settings.EXACT_SCAN_ROWS + 1


def place(owner: str = "ada", using: str = "default", space_id: int = 1) -> Place:
    return (using, space_id, Scope("acme", owner).visible(ReadMode.CHAIN))


def said(
    vectors: int = 0, *, bounded: bool = False, few: bool = False
) -> dict[str, Any]:
    return {"vectors": vectors, "bounded": bounded, "few": few, "restricts": False}


def test_a_tenant_that_restricts_documents_is_known() -> None:
    """And known to have stopped, too: the answer says so each time."""
    known = Size().seen(BOTH, said() | {"restricts": True}, indexed=True)
    assert known.restricts
    assert not known.seen(BOTH, said(), indexed=True).restricts


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
        ("default", 1, Scope("acme", "ada").visible(ReadMode.EXACT)),
        ("default", 1, Scope("other", "ada").visible(ReadMode.CHAIN)),
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


def narrowed(number: int = 0) -> Narrowed:
    return (place(), f"digest-{number}", 16)


def test_so_many_narrowings_are_remembered_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "PLACES", 3)
    for number in range(50):
        remember_short(narrowed(number))
        assert is_index_short(narrowed(number))
        assert len(places._short) <= 3


def test_the_index_is_tried_again_after_so_many_full_pages() -> None:
    """There may be more meanwhile than there was."""
    remember_short(narrowed())
    remember_short(narrowed(1))
    for _ in range(INDEX_AGAIN):
        assert is_index_short(narrowed())
        count_page(narrowed(), full=True)

    assert not is_index_short(narrowed())
    assert is_index_short(narrowed(1))


def test_a_page_that_is_not_full_never_asks_the_index_again() -> None:
    """There is no more to find than an exact scan found."""
    remember_short(narrowed())
    for _ in range(10 * INDEX_AGAIN):
        count_page(narrowed(), full=False)
    assert is_index_short(narrowed())
    assert not is_index_short((place("bob"), "digest-0", 16))
    assert not is_index_short((place(), "digest-0", 32))
    forget_sizes()
    assert not is_index_short(narrowed())


NARROWED: list[dict[str, Any]] = [
    {},
    {"strict": True},
    {"include_superseded": True},
    {"include_quarantined": True},
    {"kinds": []},
    {"kinds": [Kind.NOTE]},
    {"tiers": [Tier.NONE]},
    {"namespaces": ["a"]},
    {"tags": ["a"]},
    {"tags": ["a", "b"]},
    {"tags": ["a, b"]},
    {"partition": "a"},
    {"partition": ""},
    {"as_of": NOON},
    {"known_at": NOON},
    {"mode": ReadMode.EXACT},
    {"shared_with": Scope("acme", "ada", thread="t")},
    {"where": compile_filter({"m": 7}, terms=9)},
    {"where": compile_filter({"m": 8}, terms=9)},
    {"where": compile_filter({"n": 7}, terms=9)},
    {"where": compile_filter({"m": {"gt": 7}}, terms=9)},
]


def test_each_narrowing_and_each_value_has_a_digest_of_its_own() -> None:
    scopes = [Scope("acme", "ada"), Scope("acme", "bob")]
    found = {digest(Reader(s, **given)) for s in scopes for given in NARROWED}

    assert len(found) == len(scopes) * len(NARROWED)


def test_the_moment_of_a_reading_and_the_order_of_values_say_nothing() -> None:
    one = Reader(Scope("acme", "ada"), at=NOON, tags=["a", "b"])
    other = Reader(Scope("acme", "ada"), tags={"b", "a"})

    assert digest(one) == digest(other)


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
