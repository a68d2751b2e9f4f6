"""What text, times and JSON are accepted: one rule each, whatever field holds them."""

from __future__ import annotations

import datetime as dt
import json
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory import types
from prism_memory.errors import Invalid, LimitExceeded, PrismMemoryError
from prism_memory.types import Entry
from prism_memory.types.checks import JSON_NODES
from tests.factories import NOON

ODD = [
    "👩‍👩‍👧",
    "\u202egnp.exe",
    "\U000e0041\U000e0042",
    "\ufeffBOM",
    "a\tb\r\nc",
    "\x01\x7f",
    "x" * 1_000_000,
]


@pytest.mark.parametrize("text", ODD, ids=[ascii(text[:8]) for text in ODD])
def test_odd_text_is_kept_verbatim(text: str) -> None:
    """case_C21: nothing but NUL and lone surrogates is refused, nothing altered."""
    assert Entry(text).text == text


@pytest.mark.parametrize("name", ["text", "lexical_text", "embed_text"])
@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("a\0b", "NUL character at position 1"),
        ("ab\ud83d", "lone surrogate at position 2"),
        ("", "must not be blank"),
        (" \t\n\u3000", "must not be blank"),
        (b"bytes", "must be a string, not bytes"),
    ],
)
def test_text_that_cannot_be_kept_is_refused_by_name(
    name: str, bad: Any, why: str
) -> None:
    """case_C21, B92: the error says what is wrong and where."""
    with pytest.raises(Invalid, match=why) as raised:
        Entry(**{"text": "fine", name: bad})
    assert raised.value.field == name


def test_a_refusal_never_repeats_the_text() -> None:
    with pytest.raises(Invalid) as raised:
        Entry("my secret is hunter2\0")
    assert "hunter2" not in str(raised.value)


TICK = dt.timedelta(microseconds=1)
FIRST = dt.datetime(1, 1, 2, tzinfo=dt.UTC)
LAST = dt.datetime(9999, 12, 31, tzinfo=dt.UTC) - TICK
LISBON = ZoneInfo("Europe/Lisbon")
NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    "name", ["happened_at", "expires_at", "valid_from", "valid_to"]
)
@pytest.mark.parametrize(
    "bad",
    [dt.datetime(2026, 1, 1), dt.date(2026, 1, 1), "2026-01-01T00:00:00Z", 0],  # noqa: DTZ001 - naive on purpose
    ids=["naive", "date", "text", "number"],
)
def test_only_an_aware_time_is_a_time(name: str, bad: Any) -> None:
    """case_C22."""
    with pytest.raises(Invalid, match="time zone") as raised:
        Entry("x", **{name: bad})
    assert raised.value.field == name


class Nowhere(dt.tzinfo):
    """A zone that knows no offset: Python calls such a time naive."""

    def utcoffset(self, moment: dt.datetime | None, /) -> None:
        del moment

    dst = utcoffset

    def tzname(self, moment: dt.datetime | None, /) -> str:
        del moment
        return "nowhere"


def test_a_zone_without_offset_is_naive() -> None:
    """case_C22: else it would be read in the server's own zone."""
    with pytest.raises(Invalid, match="time zone"):
        Entry("x", happened_at=dt.datetime(2026, 1, 1, tzinfo=Nowhere()))


@pytest.mark.parametrize(
    ("given", "utc"),
    [
        (
            dt.datetime(2026, 7, 1, 9, tzinfo=dt.timezone(dt.timedelta(hours=9))),
            (7, 1, 0),
        ),
        (dt.datetime(2026, 10, 25, 1, 30, tzinfo=LISBON), (10, 25, 0)),
        (dt.datetime(2026, 10, 25, 1, 30, tzinfo=LISBON, fold=1), (10, 25, 1)),
        (dt.datetime(2026, 3, 8, 2, 30, tzinfo=NEW_YORK), (3, 8, 7)),
        (dt.datetime(2026, 3, 8, 2, 30, tzinfo=NEW_YORK, fold=1), (3, 8, 6)),
    ],
    ids=["+09:00", "repeated, first", "repeated, second", "skipped", "skipped, fold"],
)
def test_a_local_time_is_read_as_zoneinfo_reads_it(
    given: dt.datetime, utc: tuple[int, int, int]
) -> None:
    """case_C22: 02:30 on the night of a clock change has one documented meaning."""
    happened_at = Entry("x", happened_at=given).happened_at
    assert happened_at is not None
    assert happened_at.tzinfo is dt.UTC
    assert (happened_at.month, happened_at.day, happened_at.hour) == utc


@pytest.mark.parametrize("edge", [FIRST, LAST], ids=["first", "last"])
def test_a_time_at_the_edge_passes(edge: dt.datetime) -> None:
    """case_C22."""
    assert Entry("x", happened_at=edge).happened_at == edge


@pytest.mark.parametrize(
    "beyond",
    [
        FIRST - TICK,
        LAST + TICK,
        FIRST.replace(tzinfo=dt.timezone(dt.timedelta(hours=9))),
        LAST.replace(tzinfo=dt.timezone(-dt.timedelta(hours=9))),
        dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=9))),
        dt.datetime.max.replace(tzinfo=NEW_YORK),
    ],
    ids=["early", "late", "early by zone", "late by zone", "no year", "no year 10000"],
)
def test_a_time_that_not_every_zone_can_show_is_refused(beyond: dt.datetime) -> None:
    """case_C22."""
    with pytest.raises(Invalid, match="0001-01-02 to 9999-12-30 in UTC"):
        Entry("x", happened_at=beyond)


@pytest.mark.parametrize("later", [dt.timedelta(0), dt.timedelta(microseconds=-1)])
def test_validity_is_not_empty(later: dt.timedelta) -> None:
    """Half-open: an interval that ends where it begins holds no moment."""
    with pytest.raises(Invalid) as raised:
        Entry("x", valid_from=NOON, valid_to=NOON + later)
    assert raised.value.field == "valid_to"


@pytest.mark.parametrize(
    "bad",
    [
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": {1, 2}},
        {"a": NOON},
        {1: "a"},
        {"a": {"b\0": 1}},
        {"a": ["\ud800"]},
        {"a": b"x"},
        ["a"],
        "a",
        None,
    ],
    ids=repr,
)
def test_metadata_that_json_cannot_carry_is_refused(bad: Any) -> None:
    with pytest.raises(Invalid):
        Entry("x", metadata=bad)


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


def test_metadata_nests_32_levels_and_no_more() -> None:
    Entry("x", metadata={"a": nested(31)})
    with pytest.raises(LimitExceeded):
        Entry("x", metadata={"a": nested(32)})
    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic
    with pytest.raises(LimitExceeded):
        Entry("x", metadata=cyclic)


def test_values_that_are_held_many_times_count_each_time() -> None:
    """B30: a kilobyte of Python may be a billion values of JSON."""
    doubled: Any = 1
    for _ in range(30):
        doubled = [doubled, doubled]
    with pytest.raises(LimitExceeded, match="more than 100,000 values") as refused:
        Entry("x", metadata={"a": doubled})
    assert refused.value.field == "metadata"
    flat = [0] * (JSON_NODES - 1)
    types.check_json(flat, "value")
    with pytest.raises(LimitExceeded):
        types.check_json([*flat, 0], "value")
    with pytest.raises(LimitExceeded):
        types.check_json({str(n): n for n in range(JSON_NODES)}, "value")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values)
def test_what_passes_is_json_and_comes_back_the_same(value: Any) -> None:
    """B58."""
    try:
        text = types.to_json(value, "value")
    except PrismMemoryError:
        return
    assert "\\u0000" not in text
    assert json.loads(text) == value


def test_a_mapping_that_is_no_dict_becomes_a_json_object() -> None:
    frozen = MappingProxyType({"a": MappingProxyType({"b": (1, 2)})})
    assert types.to_json(frozen, "value") == '{"a":{"b":[1,2]}}'


def test_an_integer_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(Invalid, match="cannot carry"):
        types.to_json({"n": 10**5_000}, "value")
