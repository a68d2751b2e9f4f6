"""JSON lines."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.ingest import BadEntry, Selection, read_jsonl
from prism_memory.ingest.jsonl import LINE_BYTES
from prism_memory.types import Kind, Scope, SourceRef, Trust

LINE = {"owner": "ada", "text": "I moved.", "writer": "Ada", "trust": "user"}
STORABLE = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), min_size=1
)
NAMES = STORABLE.filter(lambda name: name.strip() and len(name.encode()) <= 200)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | STORABLE,
    lambda inner: st.lists(inner) | st.dictionaries(STORABLE, inner),
    max_leaves=6,
)
LINES = st.fixed_dictionaries(
    {
        "owner": NAMES,
        "text": STORABLE.filter(str.strip),
        "writer": NAMES,
        "trust": st.sampled_from([trust.value for trust in Trust]),
    },
    optional={
        "agent": NAMES,
        "thread": NAMES,
        "key": NAMES,
        "metadata": st.dictionaries(STORABLE, JSON),
        "lexical_text": STORABLE.filter(str.strip),
        "embed_text": STORABLE.filter(str.strip),
        "happened_at": st.datetimes(
            timezones=st.just(dt.timezone(dt.timedelta(hours=9)))
        )
        .filter(lambda at: 1 < at.year < 9999)
        .map(dt.datetime.isoformat),
    },
)


def read(*lines, **options):
    data = [json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines]
    return list(read_jsonl(data, tenant="acme", **options))


def refusal(**changes):
    line = {name: value for name, value in (LINE | changes).items() if value != "-"}
    with pytest.raises(BadEntry) as refused:
        read(LINE, line)
    assert refused.value.place == "line 2"
    assert str(refused.value).startswith("line 2: ")
    return refused.value


@given(st.lists(LINES, max_size=4))
def test_every_field_of_a_line_arrives(lines):
    found = read(*lines)
    assert len(found) == len(lines)
    for line, item in zip(lines, found, strict=True):
        entry = item.entry
        assert item.scope == Scope(
            "acme", line["owner"], line.get("agent", ""), line.get("thread", "")
        )
        assert (entry.text, entry.key) == (line["text"], line.get("key"))
        assert entry.origin is not None
        assert (entry.origin.writer, entry.origin.trust) == (
            line["writer"],
            Trust(line["trust"]),
        )
        assert entry.metadata == line.get("metadata", {})
        assert entry.lexical_text == line.get("lexical_text")
        assert entry.embed_text == line.get("embed_text")
        at = line.get("happened_at")
        assert entry.happened_at == (at and dt.datetime.fromisoformat(at))
        assert entry.kind is Kind.ENTRY


def test_a_line_with_a_session_is_a_turn_of_that_source():
    (item,) = read(LINE | {"session": "chat-1", "ordinal": 4})
    assert item.entry.kind is Kind.TURN
    assert item.entry.source == SourceRef("chat-1", 4)


def test_turns_of_the_same_words_are_two_records():
    first, second = read(
        LINE | {"session": "chat-1", "ordinal": 0},
        LINE | {"session": "chat-1", "ordinal": 1},
    )
    assert first.entry.text == second.entry.text
    assert (first.entry.key, second.entry.key) == ("chat-1:0", "chat-1:1")


def test_the_owner_prefix_goes_before_the_owner():
    (item,) = read(LINE, owner_prefix="trial-")
    assert item.scope.owner == "trial-ada"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"owner": "-"}, "owner"),
        ({"owner": " "}, "owner"),
        ({"owner": 7}, "owner"),
        ({"agent": 7}, "agent"),
        ({"text": "-"}, "text"),
        ({"text": "  "}, "text"),
        ({"text": ["a"]}, "text"),
        ({"text": None}, "text"),
        ({"writer": "-"}, "writer"),
        ({"trust": "-"}, "trust"),
        ({"trust": "verified"}, "trust"),
        ({"trust": []}, "trust"),
        ({"tag": "verified"}, "tag"),
        ({"kind": "fact"}, "kind"),
        ({"tenant": "other"}, "tenant"),
        ({"key": "k" * 257}, "key"),
        ({"happened_at": "2023-05-08T13:56:00"}, "happened_at"),
        ({"happened_at": "2023-05-08"}, "happened_at"),
        ({"happened_at": "yesterday"}, "happened_at"),
        ({"happened_at": 1_683_554_160}, "happened_at"),
        ({"happened_at": "0001-01-01T00:00:00+09:00"}, "happened_at"),
        ({"session": "chat-1"}, "ordinal"),
        ({"ordinal": 1}, "session"),
        ({"session": "chat-1", "ordinal": -1}, "source.ordinal"),
        ({"session": "chat-1", "ordinal": "1"}, "source.ordinal"),
        ({"session": 1, "ordinal": 1}, "source.key"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"a": float("nan")}}, "metadata"),
        ({"lexical_text": " "}, "lexical_text"),
        ({"embed_text": 1}, "embed_text"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_field_case_c22_c27(changes, field):
    assert refusal(**changes).field == field


def test_a_refusal_never_repeats_what_the_line_says():
    secret = "my secret is 42"
    for changes in ({"trust": secret}, {"happened_at": secret}, {secret: secret}):
        assert secret not in str(refusal(**changes))


def test_null_is_as_good_as_absent_for_what_may_be_absent():
    (item,) = read(LINE | {"key": None, "metadata": None, "session": None})
    assert item.entry.key is None


def test_blank_lines_are_skipped_and_counted():
    data = [b"\n", b"  \r\n", json.dumps(LINE).encode(), b"oops"]
    with pytest.raises(BadEntry, match=r"line 4: not JSON"):
        list(read_jsonl(data, tenant="acme"))


@pytest.mark.parametrize("line", [b"[]", b"7", b'"text"', b"\xff\n", b"{"])
def test_a_line_that_is_no_object_is_refused(line):
    with pytest.raises(BadEntry, match="line 1: "):
        list(read_jsonl([line], tenant="acme"))


def test_a_byte_order_mark_belongs_to_the_first_line_only():
    data = json.dumps(LINE).encode()
    assert len(list(read_jsonl([b"\xef\xbb\xbf" + data], tenant="acme"))) == 1
    with pytest.raises(BadEntry, match="line 2: not JSON"):
        list(read_jsonl([data, b"\xef\xbb\xbf" + data], tenant="acme"))


def test_a_line_of_endless_length_is_refused():
    with pytest.raises(BadEntry, match="line 1: over"):
        list(read_jsonl([b" " * (LINE_BYTES + 1)], tenant="acme"))


@pytest.mark.parametrize("text", ["\0", "a\ud800b"])
def test_text_that_cannot_be_stored_is_refused_case_c21(text):
    line = json.dumps(LINE | {"text": text}).encode()
    with pytest.raises(BadEntry, match=r"line 1: text holds a"):
        list(read_jsonl([line], tenant="acme"))


def test_a_selection_counts_owners():
    lines = [LINE | {"owner": owner} for owner in ("a", "b", "a", "c", "b")]
    found = read(*lines, selection=Selection(limit=2))
    assert [item.scope.owner for item in found] == ["a", "b", "a", "b"]
    found = read(*lines, selection=Selection(["c"]))
    assert [item.scope.owner for item in found] == ["c"]
