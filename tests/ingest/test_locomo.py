"""LoCoMo files."""

from __future__ import annotations

import datetime as dt
import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.conf import Limits
from prism_memory.ingest import BadEntry, Selection, read_locomo
from prism_memory.ingest.locomo import session_time
from prism_memory.lifecycle.entries import prepare
from prism_memory.redaction import Redaction
from prism_memory.types import Kind, Scope, Trust
from prism_memory.types.dates import MONTHS, date_in_words

TURNS: list[dict[str, Any]] = [
    {"dia_id": "D1:1", "speaker": "Ada", "text": "I moved to Porto."},
    {
        "dia_id": "D1:2",
        "speaker": "Ben",
        "text": "Look at this!",
        "blip_caption": "a photo of a tram",
        "img_url": ["somewhere"],
    },
]
CONVERSATION: dict[str, Any] = {
    "sample_id": "conv-1",
    "qa": [{"question": "Where does Ada live?"}],
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_10_date_time": "12:05 am on 2 June, 2023",
        "session_10": [{"dia_id": "D10:1", "speaker": "Ada", "text": "It rains."}],
        "session_2": [],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": TURNS,
        "session_99_date_time": "never held",
    },
}


def read(*conversations, **options):
    data = json.dumps(conversations, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )
    return list(read_locomo([data], tenant="acme", **options))


def changed(**changes):
    conversation = deepcopy(CONVERSATION)
    conversation["conversation"].update(changes)
    return conversation


def test_a_turn_is_a_record_at_its_owners_level():
    first, second, third = read(CONVERSATION, owner_prefix="trial-")
    assert {first.scope, second.scope, third.scope} == {Scope("acme", "trial-conv-1")}
    entry = first.entry
    assert (entry.kind, entry.key, entry.text) == (Kind.TURN, "D1:1", TURNS[0]["text"])
    assert entry.origin is not None
    assert (entry.origin.trust, entry.origin.writer) == (Trust.USER, "Ada")
    assert entry.happened_at == dt.datetime(2023, 5, 8, 13, 56, tzinfo=dt.UTC)
    assert entry.metadata == {
        "dia_id": "D1:1",
        "session": "session_1",
        "speaker": "Ada",
    }


def test_sessions_follow_their_numbers_and_turns_their_order():
    places = [(i.entry.source.key, i.entry.source.ordinal) for i in read(CONVERSATION)]
    assert places == [("session_1", 0), ("session_1", 1), ("session_10", 0)]


def prepared(*conversations):
    entries = [item.entry for item in read(*conversations)]
    return prepare(entries, origin=None, limits=Limits(), redaction=Redaction())


def test_the_vector_sees_speaker_and_caption_and_full_text_the_date_too():
    """B350."""
    _, row, _ = prepared(CONVERSATION)
    assert row.entry.text == "Look at this!"
    assert row.embed_text == "Ben: Look at this! [a photo of a tram]"
    assert row.lexical_text == f"8 May 2023 {row.embed_text}"
    assert row.entry.metadata["caption"] == "a photo of a tram"


def test_a_session_without_a_date_has_none():
    first, *_ = prepared(changed(session_1_date_time=""))
    assert first.entry.happened_at is None
    assert first.lexical_text == "Ada: I moved to Porto."


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"session_1": "no list"}, r"conv-1 \(line 1\), session_1: must be an array"),
        ({"session_1": ["no turn"]}, r"session_1\[0\]: must be an object"),
        ({"session_1": [TURNS[0], {}]}, r"session_1\[1\]: dia_id must be a string"),
        ({"session_1": [TURNS[0] | {"text": 7}]}, "text must be a string"),
        ({"session_1": [TURNS[0] | {"text": " "}]}, "text must not be blank"),
        ({"session_1": [TURNS[0] | {"speaker": ""}]}, "writer must not be blank"),
        ({"session_1": [TURNS[0] | {"dia_id": "D" * 257}]}, "key is over 256 bytes"),
        ({"session_1": [TURNS[0] | {"blip_caption": []}]}, "blip_caption must be a"),
        ({"session_1": [TURNS[0], TURNS[0]]}, r"session_1\[1\]: this dia_id was used"),
        ({"session_1_date_time": "8 May 2023"}, "session_1_date_time: a date must"),
        ({"session_1_date_time": 8}, "session_1_date_time: a date must"),
        ({"session_1_date_time": "1:56 pm on 8 Mai, 2023"}, "a date must look"),
        ({"session_1_date_time": "1:56 pm on 31 June, 2023"}, "no such date or time"),
        ({"session_1_date_time": "13:56 pm on 8 May, 2023"}, "no such date or time"),
        ({"session_1_date_time": "1:76 pm on 8 May, 2023"}, "no such date or time"),
        ({"session_1_date_time": "1:56 pm on 8 May, 0000"}, "no such date or time"),
    ],
)
def test_what_is_wrong_is_told_with_conversation_and_turn(changes, message):
    with pytest.raises(BadEntry, match=message):
        read(changed(**changes))


@pytest.mark.parametrize("conversation", [7, {}, {"sample_id": 1}, {"sample_id": "c"}])
def test_what_is_no_conversation_is_refused(conversation):
    with pytest.raises(BadEntry, match=r"line 1"):
        read(conversation)


def test_two_conversations_of_one_id_are_refused():
    with pytest.raises(BadEntry, match="this sample_id was used before"):
        read(CONVERSATION, CONVERSATION)


@pytest.mark.parametrize("text", ["\0", "a\ud800b"])
def test_text_that_cannot_be_stored_is_refused_where_it_stands_case_c21(text):
    turn = {"dia_id": "D1:1", "speaker": "Ada", "text": text}
    data = json.dumps([changed(session_1=[turn])]).encode()
    with pytest.raises(BadEntry, match=r"session_1\[0\]: text holds a") as refused:
        list(read_locomo([data], tenant="acme"))
    assert refused.value.field == "text"


@pytest.mark.parametrize(
    "text",
    [
        "\N{FAMILY}\N{ZERO WIDTH JOINER}\N{BOY}",
        "\N{RIGHT-TO-LEFT OVERRIDE}abc",
        "\N{TAG LATIN SMALL LETTER A}",
        "\N{ZERO WIDTH NO-BREAK SPACE}begins with a mark",
        "line\N{LINE SEPARATOR}separator\r\n",
    ],
)
def test_odd_text_comes_through_unchanged_case_c21(text):
    turn = {"dia_id": "D1:1", "speaker": "Ada", "text": text}
    first, *_ = read(changed(session_1=[turn]))
    assert first.entry.text == text


def named(name):
    return {**changed(), "sample_id": name}


def test_a_selection_by_name_and_one_by_number():
    chosen = Selection(["b"])
    found = read(named("a"), named("b"), named("c"), selection=chosen)
    assert {item.scope.owner for item in found} == {"b"}
    assert chosen.missing == []
    first = Selection(limit=2)
    found = read(named("a"), named("b"), named("c"), selection=first)
    assert {item.scope.owner for item in found} == {"a", "b"}


def test_a_name_that_the_file_lacks_is_told():
    chosen = Selection(["b", "z"])
    read(named("a"), named("b"), selection=chosen)
    assert chosen.missing == ["z"]


def test_nothing_behind_the_selection_is_read():
    found = read(named("a"), {"broken": True}, selection=Selection(limit=1))
    assert len(found) == 3


@given(
    st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)),  # noqa: DTZ001
    st.sampled_from(["", " "]),
)
def test_a_date_as_written_is_read_as_utc(at, blank):
    half = "am" if at.hour < 12 else "pm"
    clock = f"{at.hour % 12 or 12}:{at.minute:02} {half}"
    written = f"{blank}{clock} on {at.day} {MONTHS[at.month - 1]}, {at.year:04}"
    expected = at.replace(second=0, microsecond=0, tzinfo=dt.UTC)
    assert session_time(written, "here") == expected
    assert date_in_words(expected) == f"{at.day} {MONTHS[at.month - 1]} {at.year}"


def test_the_published_conversations_are_read_whole(shared_dir):
    with (shared_dir / "data" / "locomo-dev.json").open("rb") as file:
        chunks = iter(lambda: file.read(10_000), b"")
        found = list(read_locomo(chunks, tenant="acme", selection=Selection(limit=2)))
    assert len(found) == 419 + 369
    assert len({(item.scope, item.entry.key) for item in found}) == len(found)
    assert all(item.entry.happened_at for item in found)
