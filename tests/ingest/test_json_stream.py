"""Reading a JSON array piece by piece."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.ingest.entries import BadEntry
from prism_memory.ingest.json_stream import ArrayReader, decoded, parse

OBJECTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
).map(lambda value: {"value": value})


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def items(data: bytes, size: int = 5) -> list[object]:
    return [item for _, item in ArrayReader(decoded(pieces(data, size)))]


@given(st.lists(OBJECTS, max_size=5), st.integers(1, 40), st.sampled_from([None, 1]))
def test_an_array_reads_the_same_however_it_is_cut(values, size, indent):
    data = json.dumps(values, ensure_ascii=False, indent=indent).encode(
        "utf-8", "replace"
    )
    assert items(data, size) == json.loads(data)


def test_an_item_is_told_with_its_line():
    found = list(ArrayReader(iter(['[\n{"a":\n1},', "\n\n", '{"b": 2}]\n'])))
    assert found == [("line 2", {"a": 1}), ("line 5", {"b": 2})]


def test_a_byte_order_mark_at_the_start_is_dropped():
    assert items(b'\xef\xbb\xbf[{"a": 1}]', 1) == [{"a": 1}]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1: the file must hold one JSON array"),
        (b'{"a": 1}', "line 1: the file must hold one JSON array"),
        (b'[{"a": 1}', "line 1: the array is not closed"),
        (b'[{"a": 1}\n{"b": 2}]', "line 2: the array is not closed"),
        (b'[{"a": 1}]\n\n[]', "line 3: text after the array"),
        (b'[\n{"a": oops, "b": "a long text that follows it"}]', "line 2: not JSON"),
        (b'[\n{"a": "never closed', "line 2: not JSON: Unterminated string"),
        (b'[{"a": 1},\n', "line 2: not JSON"),
        (b'[{"a":\n\n"\xff"}]', "line 3: not UTF-8"),
        (b"[" + b'{"a":' * 100_000, "line 1: nested too deep"),
        (b'[{"a":' + b"9" * 10_000 + b"}]", "line 1: holds a number that is too long"),
    ],
)
def test_what_is_no_array_is_refused_with_its_line(data, message):
    with pytest.raises(BadEntry, match=message):
        items(data, 64)


def test_a_broken_item_is_refused_before_the_rest_is_read():
    def endless():
        yield '[{"a": oops'
        yield " " * 100
        message = "read on after the fault"
        raise AssertionError(message)

    with pytest.raises(BadEntry):
        list(ArrayReader(endless()))


@pytest.mark.parametrize("text", ["", "{", "[1,]", "{'a': 1}", "9" * 10_000])
def test_a_line_that_is_no_json_is_refused(text):
    with pytest.raises(BadEntry, match="line 7: "):
        parse(text, "line 7")


def test_a_line_nested_too_deep_is_refused():
    with pytest.raises(BadEntry, match="nested too deep"):
        parse("[" * 200_000, "line 7")
