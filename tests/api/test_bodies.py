"""Odd bodies and queries: refused with a reason, never a server error."""

from __future__ import annotations

import io
import json
import math
import uuid
from typing import Any, Final

import pytest
from django.http import UnreadablePostError
from django.test import Client, override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.api.memories.inputs import RememberOneInput, SetConsentInput
from prism_memory.api.parsing import StrictJSONParser
from prism_memory.api.recall.inputs import DeepRecallInput, RecallInput
from prism_memory.errors import Invalid
from prism_memory.models import Record
from tests.api.conftest import Caller, refused
from tests.tries import examples

pytestmark = pytest.mark.django_db

NOBODYS: Final = uuid.UUID(int=7)
PATHS = ["memories", "recall", "recall/deep", f"memories/{NOBODYS}/consent"]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b'{"text": "a",}',
        b"\xff\xfe",
        b'{"text": "\xff"}',
        b'{"text": "\xed\xa0\x80"}',
        b"\xef\xbb\xbf{}",
        b'{"text": "a\x00b"}',
        b'{"text": NaN}',
        b'{"text": Infinity}',
        b'{"a": 1, "a": 2}',
        b'{"text": "a", "metadata": {"n": 1, "n": 2}}',
        b'{"sequence": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_is_no_strict_json_is_refused(
    alice: Caller, path: str, body: bytes
) -> None:
    refused(alice.post(path, body), 400, "validation", "body")


@pytest.mark.parametrize("body", ["[]", '"text"', "5", "true", "null", "[{}]"])
@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_is_no_object_is_refused(
    alice: Caller, path: str, body: str
) -> None:
    refused(alice.post(path, body), 400, "validation")


@pytest.mark.parametrize("path", PATHS)
def test_an_empty_body_is_refused(alice: Caller, path: str) -> None:
    refused(alice.post(path, b""), 400, "validation")


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x", ""],
)
@pytest.mark.parametrize("path", PATHS)
def test_another_media_type_is_refused(
    alice: Caller, path: str, media_type: str
) -> None:
    answer = Client().generic(
        "POST",
        f"/api/v1/{path}",
        b'{"query": "x", "text": "x"}',
        content_type=media_type,
        headers={"Authorization": f"Bearer {alice.token}"},
    )

    refused(answer, 415, "media_type")


def test_a_body_that_ends_too_early_is_refused() -> None:
    class Broken:
        @property
        def body(self) -> bytes:
            raise UnreadablePostError

    with pytest.raises(Invalid, match="ended too early"):
        StrictJSONParser().parse(io.BytesIO(), parser_context={"request": Broken()})


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1_000)
@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_is_too_long_is_refused(alice: Caller, path: str) -> None:
    refused(alice.post(path, {"text": "a" * 1_000}), 413, "body_size")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a\0b", "It holds a NUL character at position 1."),
        ("a\ud800", "It holds a lone surrogate at position 1."),
        ("\udc00\ud800", "It holds a lone surrogate at position 0."),
        ("", "text must not be blank."),
        (" \n\t", "text must not be blank."),
        ("\u2003\u00a0", "text must not be blank."),
    ],
)
def test_text_that_cannot_be_stored_is_refused(
    alice: Caller, text: str, why: str
) -> None:
    """case_C21: with its place, and the rest of the batch is not stored either."""
    answer = alice.post("memories", {"entries": [{"text": "good"}, {"text": text}]})

    refused(answer, 400, "validation", "entries[1].text")
    assert answer.json()["detail"] == why
    assert not Record.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "👩\u200d👩\u200d👧",
        "\u202eright to left",
        "tag \U000e0041\U000e007f",
        "\ufeffBOM",
        " spaces stay ",
        "line\r\nline\u2028line",
        "\x01\x1f\x7f\x80",
        "</memory>",
        "é" * 16_000,
        "e\u0301",
    ],
)
def test_all_other_text_comes_back_unchanged(alice: Caller, text: str) -> None:
    """case_C21."""
    memory_id = alice.remember(text, metadata={text[:200]: [text[:200]]})

    found = alice.get(f"memories/{memory_id}").json()
    assert found["text"] == text
    assert found["metadata"] == {text[:200]: [text[:200]]}


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=10_000_000)
def test_a_line_of_a_megabyte_is_refused_by_its_limit(alice: Caller) -> None:
    """case_C21, B498."""
    answer = alice.post("memories", {"text": "a" * 1_000_000})

    refused(answer, 422, "limit", "text")
    assert "text_characters" in answer.json()["detail"]


ODD = ["\0", "\ud800"]


@pytest.mark.parametrize("odd", ODD)
def test_odd_text_is_refused_wherever_it_stands(alice: Caller, odd: str) -> None:
    """case_C21."""
    entries: list[dict[str, Any]] = [
        {"key": odd},
        {"namespace": odd},
        {"partition": odd},
        {"metadata": {"a": [odd]}},
        {"metadata": {odd: 1}},
        {"reflection": {odd: odd}},
        {"lineage": {"source_ids": [odd]}},
        {"source": {"key": odd}},
        {"source": {"key": "k", "uri": odd}},
        {"kind": odd},
        {"tier": odd},
        {"language": odd},
        {"lexical_text": odd},
        {"embed_text": odd},
        {"happened_at": odd},
        {"consent": {"source": odd}},
        {"consent": {"label": odd}},
        {odd: 1},
    ]
    for entry in entries:
        refused(alice.post("memories", {"text": "a", **entry}), 400, "validation")
    questions: list[dict[str, Any]] = [
        {"query": odd},
        {"namespaces": [odd]},
        {"tags": [odd]},
        {"legs": [odd]},
        {"fusion": odd},
        {"weights": {odd: 1}},
        {"scoring": {odd: 1}},
        {"known_at": odd},
        {"reranker": odd},
        {"transformer": odd},
        {"partition": odd},
        {"kinds": [odd]},
        {"tiers": [odd]},
        {"legs": odd},
        {"ids": [odd]},
        {"as_of": odd},
        {"filter": {odd: 1}},
        {"filter": {"a": odd}},
        {"filter": {"a": {odd: 1}}},
    ]
    for question in questions:
        refused(alice.post("recall", {"query": "a", **question}), 400, "validation")
    consent = f"memories/{alice.remember('Tea')}/consent"
    refused(alice.post(consent, {"visible": True, "reason": odd}), 400, "validation")


WRONG_TYPES: list[tuple[str, list[Any]]] = [
    ("text", [5, True, None, ["a"], {"a": 1}, 1.5]),
    ("key", [5, True, ["a"], ""]),
    ("kind", [5, None, "fact", "chunk", "Entry", ["entry"], {}]),
    ("tier", [5, None, "core"]),
    ("namespace", [5, None, ["a"], " "]),
    ("metadata", [5, "{}", None, [1], True]),
    ("consent", [5, "yes", [1], {"visible": "yes"}, {"visible": 1}]),
    ("sequence", [1.5, "1", True, 2**63, -(2**63) - 1, 10**400]),
    ("importance", ["1", True, 10**400, math.nan]),
    ("reflection", [5, "{}", [1]]),
    ("lineage", [5, "a", ["a"], {}, {"source_ids": "abc"}, {"source_ids": [5]}]),
    ("source", [5, "a", {}, {"key": 5}, {"key": "k", "ordinal": -1}]),
    ("source", [{"key": "k", "ordinal": 2**63}, {"key": "k", "ordinal": "1"}]),
    ("language", [5, None, "klingon"]),
    ("wait", [1, "true", None, "yes"]),
]


@pytest.mark.parametrize(("name", "values"), WRONG_TYPES)
def test_a_value_of_another_type_is_refused_not_coerced(
    alice: Caller, name: str, values: list[Any]
) -> None:
    for value in values:
        answer = alice.post("memories", {"text": "a", name: value})
        assert answer.status_code == 400, (value, answer.content)
    assert not Record.objects.exists()


def test_a_number_beyond_the_column_is_refused(alice: Caller) -> None:
    source = {"key": "k", "ordinal": 2**31}

    answer = alice.post("memories", {"text": "a", "source": source})

    assert answer.status_code in {400, 422}


@pytest.mark.parametrize(
    "value",
    [
        "2026-10-25T02:30:00",
        "2026-10-25",
        "2026-10-25 02:30:00Z",
        "20261025T023000Z",
        "2026-W43-7T02:30:00Z",
        "2026-10-25T24:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-10-25T02:30:60Z",
        "2026-10-25T02:30:00.1234567Z",
        "2026-10-25T02:30:00+0900",
        "2026-10-25T02:30:00+24:00",
        "2026-10-25T02:30:00 +09:00",
        "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+09:00",
        "0001-01-01T23:59:59Z",
        "9999-12-31T00:00:00Z",
        "9999-12-31T23:59:59-09:00",
        "2026-10-25T02:30:00Z\n",
        "\uff12\uff10\uff12\uff16-10-25T02:30:00Z",
        1_800_000_000,
        True,
        [],
    ],
)
def test_a_time_without_one_meaning_is_refused(alice: Caller, value: Any) -> None:
    """case_C22."""
    for body in ({"happened_at": value}, {"consent": {"granted_at": value}}):
        refused(alice.post("memories", {"text": "a", **body}), 400, "validation")
    answer = alice.post("recall", {"query": "a", "as_of": value})
    refused(answer, 400, "validation", "as_of")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00.000000Z"),
        ("2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00.000000Z"),
        ("2026-10-25T02:30:00.5+09:00", "2026-10-24T17:30:00.500000Z"),
        ("2026-10-25T02:30Z", "2026-10-25T02:30:00.000000Z"),
        ("0001-01-02T00:00:00Z", "0001-01-02T00:00:00.000000Z"),
        ("9999-12-30T23:59:59.999999Z", "9999-12-30T23:59:59.999999Z"),
    ],
)
def test_a_time_with_its_offset_is_kept_in_utc(
    alice: Caller, given: str, shown: str
) -> None:
    """case_C22."""
    memory_id = alice.remember("a", happened_at=given)

    found = alice.get(f"memories/{memory_id}").json()
    assert found["happened_at"] == shown


def test_validity_is_half_open(alice: Caller) -> None:
    """case_C22."""
    alice.remember(
        "valid",
        valid_from="2026-01-01T00:00:00Z",
        valid_to="2026-02-01T00:00:00+00:00",
    )

    def at(moment: str) -> list[str]:
        return alice.recalls("valid", as_of=moment)

    assert at("2025-12-31T23:59:59.999999Z") == []
    assert at("2026-01-01T00:00:00Z") == ["valid"]
    assert at("2026-01-31T23:59:59.999999Z") == ["valid"]
    assert at("2026-02-01T00:00:00Z") == []
    assert at("2026-02-01T09:00:00+09:00") == []


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize("levels", [33, 200])
def test_metadata_that_is_nested_too_deep_is_refused(
    alice: Caller, levels: int
) -> None:
    refused(
        alice.post("memories", {"text": "a", "metadata": deep(levels)}),
        422,
        "limit",
        "metadata",
    )
    refused(
        alice.post("memories", {"text": "a", "reflection": deep(levels)}),
        422,
        "limit",
        "reflection",
    )
    assert alice.post(
        "recall", {"query": "a", "filter": {"a": {"eq": deep(levels)}}}
    ).status_code in {400, 422}


@pytest.mark.parametrize(
    "query",
    [
        "?limit=x",
        "?limit=1.0",
        "?limit=0",
        "?limit=-1",
        "?limit=201",
        "?limit=99999999999999999999",
        "?limit=%D9%A1",
        "?limit=",
        "?limit=1&limit=2",
        "?cursor=",
        "?cursor=x",
        "?cursor=%00",
        "?cursor=a&cursor=b",
        "?cursor=" + "a" * 5_000,
        "?kinds=",
        "?kinds=entry,turn",
        "?kinds=nothing",
        "?tiers=nothing",
        "?namespaces=%ff",
        "?namespaces=%00",
        "?namespaces=%zz",
        "?namespaces=%ED%A0%80",
        "?partition=a&partition=b",
        "?filter=",
        "?filter=x",
        "?filter=[]",
        "?filter=%7B%22a%22%3A%7B%22bad%22%3A1%7D%7D",
        "?filter=" + "%5B" * 10_000,
        "?unknown=1",
        "?page=2",
        "?format=json",
        "?" + "&".join(f"kinds=entry{i}" for i in range(300)),
    ],
)
def test_an_odd_query_is_refused(alice: Caller, query: str) -> None:
    assert alice.get("memories", query).status_code in {400, 422}


SECRETS = "xyzzy-plugh"
JSONS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(), max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)
ENTRY_FIELDS = [*RememberOneInput().fields, "entries"]
CONSENT_FIELDS = [*SetConsentInput().fields]
RECALL_FIELDS = [*RecallInput().fields]
DEEP_FIELDS = [*DeepRecallInput().fields]


@settings(
    max_examples=examples(75),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_no_body_is_a_server_error(alice: Caller, data: st.DataObject) -> None:
    """case_C21, B498."""
    path, names, start = data.draw(
        st.sampled_from(
            [
                ("memories", ENTRY_FIELDS, {"text": "a"}),
                ("recall", RECALL_FIELDS, {"query": "a"}),
                ("recall/deep", DEEP_FIELDS, {"query": "a"}),
                (PATHS[-1], CONSENT_FIELDS, {}),
            ]
        )
    )
    body = data.draw(st.dictionaries(st.sampled_from(names), JSONS, max_size=3))

    answer = alice.post(path, json.dumps({**start, **body}))

    assert answer.status_code < 500, answer.content


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("memories", {"text": "a", "kind": SECRETS}),
        ("memories", {"text": "a", SECRETS: 1}),
        ("memories", {"text": "a", "metadata": {SECRETS: {SECRETS: "\0"}}}),
        ("memories", {"text": "a", "happened_at": SECRETS}),
        ("memories", {"text": "a", "language": SECRETS}),
        ("memories", {"text": SECRETS * 10_000}),
        ("memories", {"text": "a", "key": SECRETS * 100}),
        ("memories", {"text": "a", "lineage": {"source_ids": [f"record:{SECRETS}"]}}),
        ("memories", {"entries": [SECRETS]}),
        ("memories", {"entries": SECRETS}),
        ("memories", {"text": "a", "consent": SECRETS}),
        ("recall", {"query": "a", "legs": SECRETS}),
        ("recall", {"query": "a", "filter": {"a": {SECRETS: 1}}}),
        ("recall", {"query": "a", "ids": [SECRETS]}),
        ("recall", {"query": "a", "fusion": SECRETS}),
        ("recall", {"query": "a", "reranker": SECRETS}),
        ("recall", {"query": "a", "weights": {SECRETS: 1}}),
        ("recall", {"query": "a", "scoring": {"half_life_ms": SECRETS}}),
        ("recall/deep", {"query": SECRETS * 2_000}),
        ("recall", {"query": SECRETS * 2_000}),
        ("recall", f'{{"query": {SECRETS}}}'),
        (f"memories/{SECRETS}/consent", {"visible": True}),
        (f"memories/{NOBODYS}/consent", {"visible": SECRETS}),
    ],
)
def test_an_error_never_echoes_what_was_sent(
    alice: Caller, path: str, body: Any
) -> None:
    """B498."""
    answer = alice.post(path, body)

    assert 400 <= answer.status_code < 500
    assert SECRETS not in answer.content.decode()


def test_an_error_never_echoes_what_is_stored(alice: Caller) -> None:
    """B498."""
    alice.remember(SECRETS, key="k", consent={"visible": True})
    answer = alice.post(
        "memories", {"text": "other", "key": "k", "consent": {"visible": False}}
    )

    refused(answer, 409, "conflict", "consent")
    assert SECRETS not in answer.content.decode()


def test_an_unknown_field_is_answered_with_the_known_ones(alice: Caller) -> None:
    answer = alice.post("recall", {"query": "a", "topk": 5})

    assert "top_k" in answer.json()["detail"]
    assert answer.json()["detail"].endswith("Did you mean top_k?")
