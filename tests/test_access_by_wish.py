"""What a reader may ask for besides: an earlier knowledge, trust, tags.

Each narrows or widens by its own clause alone; the rest of the rule stands.
"""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

import pytest

from prism_memory.access import Reader, changed, visible
from prism_memory.db.expressions import NamedCondition
from prism_memory.db.filters import compile_filter
from prism_memory.errors import Invalid
from prism_memory.models import Record
from prism_memory.types import ReadMode, TombstoneReason
from tests.factories import NOON, make_edge, make_record, make_scope, make_tombstone
from tests.sight import DAY, HERE, TICK, hold_of, seen

pytestmark = pytest.mark.django_db

# What was known at a moment


def make_old(text: str = "Ada drinks tea, not coffee.", **columns: Any) -> Record:
    """A record of the day before ``NOON``, consented to when it was written."""
    times = {"created_at": NOON - DAY, "granted_at": NOON - DAY}
    return make_record(text, **(times | columns))


def known(record: Record, at: dt.datetime = NOON, **asked: Any) -> bool:
    """Tell whether a reader of two days later sees it as known at ``at``."""
    return seen(record, at=NOON + 2 * DAY, known_at=at, **asked)


def test_what_was_written_later_was_not_known() -> None:
    record = make_old()
    assert known(record)
    assert known(record, NOON - DAY)
    assert not known(record, NOON - DAY - TICK)


def test_what_was_consented_to_later_was_not_known() -> None:
    record = make_old(granted_at=NOON)
    assert known(record)
    assert not known(record, NOON - TICK)
    assert known(make_old("no consent", granted_at=None, visible=None))


def test_what_was_known_is_shown_only_if_it_is_in_sight_now() -> None:
    """data-model.md: an auditor's question is no back door."""
    hidden = [
        make_old("a", visible=False),
        make_old("b", revoked_at=NOON + DAY),
        make_old("c", gate="quarantined"),
        make_old("d", retired_at=NOON + DAY),
        make_old("e", expires_at=NOON + DAY),
        make_old("f", valid_to=NOON + DAY),
    ]
    make_tombstone(forgotten := make_old("g"), at=NOON + DAY)
    make_edge(derived := make_old("h"), forgotten)
    assert not any(known(record) for record in [*hidden, forgotten, derived])


@pytest.mark.parametrize("reason", TombstoneReason)
def test_a_tombstone_lifted_since_hid_what_it_blocked(reason: TombstoneReason) -> None:
    """From its moment, to that of its lifting; a correction hides what derives."""
    source, derived = make_old("a"), make_old("b")
    make_edge(derived, source)
    lifted = {"at": NOON, "cleared_at": NOON + DAY}
    make_tombstone(source, **hold_of(reason), **lifted)
    moments = [NOON - TICK, NOON, NOON + DAY - TICK, NOON + DAY]
    hidden = [True, False, False, True]
    assert [known(derived, moment) for moment in moments] == hidden
    corrected = reason is TombstoneReason.CORRECTED
    expected = [True] * 4 if corrected else hidden
    assert [known(source, moment) for moment in moments] == expected


def test_another_tenants_lifted_tombstone_hid_nothing() -> None:
    """B8."""
    source, derived = make_old("a"), make_old("b")
    make_edge(derived, source)
    foreign = make_record(scope=make_scope(tenant="globex"))
    ref = f"record:{source.id}"
    make_tombstone(foreign, target_ref=ref, cleared_at=NOON + DAY)
    assert known(source)
    assert known(derived)


def test_what_was_valid_is_another_question_than_what_was_known() -> None:
    record = make_old(valid_from=NOON, valid_to=NOON + DAY)
    assert known(record, as_of=NOON)
    assert known(record, NOON - DAY, as_of=NOON)
    assert not known(record, NOON - DAY - TICK, as_of=NOON)
    assert not known(record, as_of=NOON - TICK)
    assert not known(record)


def test_what_changed_since_it_was_known_is_marked_so() -> None:
    later, never = make_old("a", changed_at=NOON), make_old("b")

    def changed_since(moment: dt.datetime | None) -> set[uuid.UUID]:
        reader = Reader(scope=HERE, at=NOON + DAY, known_at=moment)
        mark = NamedCondition(changed().as_string(None), reader.parameters())
        rows = visible(using="default", reader=reader)
        assert {row.id for row in rows} == {later.id, never.id}
        return {row.id for row in rows.filter(mark)}

    assert changed_since(NOON - TICK) == {later.id}
    assert changed_since(NOON) == set()
    assert changed_since(None) == set()


# What a trusted caller may ask for besides


def test_what_is_over_and_what_is_to_come_is_seen_by_wish() -> None:
    """B374."""
    over, ahead = make_record("a", valid_to=NOON), make_record("b", valid_from=NOON)
    assert not seen(over)
    assert not seen(ahead, at=NOON - TICK)
    assert seen(over, include_superseded=True)
    assert seen(ahead, at=NOON - TICK, include_superseded=True)


def test_a_moment_that_is_asked_for_wins_over_the_wish_for_all() -> None:
    """B374: semantics 4.3."""
    record = make_record(valid_from=NOON, valid_to=NOON + DAY)
    assert seen(record, as_of=NOON, include_superseded=True)
    assert not seen(record, as_of=NOON + DAY, include_superseded=True)


def test_what_the_gate_holds_back_is_seen_by_wish() -> None:
    record = make_record(gate="quarantined")
    assert not seen(record)
    assert not seen(record, include_superseded=True)
    assert seen(record, include_quarantined=True)


WISHES = ["include_superseded", "include_quarantined"]


@pytest.mark.parametrize("name", WISHES)
@pytest.mark.parametrize("wrong", [None, 1, "true", [True]], ids=repr)
def test_a_wish_is_true_or_false(name: str, wrong: Any) -> None:
    with pytest.raises(Invalid) as raised:
        Reader(scope=HERE, **{name: wrong})
    assert raised.value.field == name


def test_a_moment_of_knowing_is_aware() -> None:
    with pytest.raises(Invalid) as raised:
        Reader(scope=HERE, known_at=dt.datetime(2026, 1, 1))  # noqa: DTZ001
    assert raised.value.field == "known_at"


ASKED: list[dict[str, Any]] = [
    {"include_superseded": True},
    {"include_quarantined": True},
    {"known_at": NOON},
    {"tags": ["tea"]},
    {"where": compile_filter({"n": 1}, terms=9)},
]
"""Each new thing to ask by; what is made by ``make_tagged`` is seen under all."""


def make_tagged(text: str = "words", **given: Any) -> Record:
    fields = {"metadata": {"n": 1, "tags": ["tea"]}}
    return make_old(text, **({"fields": fields} | given))


def by_name(asked: dict[str, Any]) -> str:
    return next(iter(asked))


@pytest.mark.parametrize("asked", ASKED, ids=by_name)
def test_whatever_is_asked_a_strangers_record_is_not_visible(
    asked: dict[str, Any],
) -> None:
    """B4, B18, B25, B382, case_C02."""
    assert seen(make_tagged(), **asked)
    strangers: list[dict[str, str]] = [
        {"tenant": "globex"},
        {"owner": "bob"},
        {"agent": "sales"},
        {"thread": "chat-2"},
    ]
    for elsewhere in strangers:
        record = make_tagged(scope=make_scope(**elsewhere))
        assert seen(record, scope=make_scope(**elsewhere), **asked)
        for mode in ReadMode:
            assert not seen(record, mode=mode, **asked)
            assert not seen(record, mode=mode, ids=[record.id], **asked)


@pytest.mark.parametrize("asked", ASKED, ids=by_name)
def test_whatever_is_asked_what_is_withheld_stays_so(asked: dict[str, Any]) -> None:
    """B134, B135, B141, B382."""
    source = make_tagged("source")
    make_tombstone(source, at=NOON - DAY)
    make_edge(derived := make_tagged("derived"), source)
    withheld = [
        source,
        derived,
        make_tagged("a", visible=False),
        make_tagged("b", revoked_at=NOON),
        make_tagged("c", retired_at=NOON),
        make_tagged("d", expires_at=NOON),
    ]
    assert not any(seen(record, **asked) for record in withheld)
    silent = make_tagged("e", visible=None, granted_at=None)
    assert seen(silent, **asked)
    assert not seen(silent, strict=True, **asked)


# Tags


@pytest.mark.parametrize(
    ("tags", "shown"),
    [
        (["a", "b"], True),
        (["b"], True),
        ("b", True),
        (["c"], False),
        ("ab", False),
        (["B"], False),
        ([["b"]], False),
        ([], False),
        ("", False),
        ({"b": 1}, False),
        (None, False),
        (7, False),
    ],
    ids=repr,
)
def test_one_of_the_tags_is_enough(tags: Any, shown: bool) -> None:
    """B375: a tag alone may be a plain text; nothing else is a tag."""
    record = make_record(fields={"metadata": {"tags": tags, "b": "b"}})
    assert seen(record, tags=["b", "x"]) is shown
    assert seen(record, tags=None)


def test_a_record_without_tags_has_none() -> None:
    """B375."""
    assert not seen(make_record(fields={"metadata": {"b": 1}}), tags=["b", "tags", ""])


@pytest.mark.parametrize("tag", ["x') OR 1=1 --", "%s", 'a"b', "{}", "a\\", "", "☂"])
def test_any_tag_is_data(tag: str) -> None:
    """case_C03."""
    mine = make_record("a", fields={"metadata": {"tags": [tag]}})
    other = make_record("b", fields={"metadata": {"tags": ["other"]}})
    assert seen(mine, tags=[tag])
    assert not seen(other, tags=[tag])
