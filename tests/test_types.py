"""Entries and the small values they are made of."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from prism_memory import types
from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types import (
    Actor,
    Consent,
    Entry,
    Lineage,
    Origin,
    Page,
    Recalled,
    SourceRef,
    Trust,
)
from tests.factories import NOON


def entry(**fields: Any) -> Entry:
    return Entry(**{"text": "x", **fields})


@pytest.mark.parametrize(
    ("given", "stored"), [(-1, 0.0), (0, 0.0), (0.4, 0.4), (1, 1.0), (7.5, 1.0)]
)
def test_importance_is_clamped_to_0_and_1(given: float, stored: float) -> None:
    """B98."""
    assert Entry("x", importance=given).importance == stored


@pytest.mark.parametrize(
    "bad", [float("nan"), float("inf"), -float("inf"), "0.5", True, 10**400]
)
def test_an_importance_that_is_no_finite_number_is_refused(bad: Any) -> None:
    """B100."""
    with pytest.raises(Invalid) as raised:
        Entry("x", importance=bad)
    assert raised.value.field == "importance"


@pytest.mark.parametrize("bad", [2**63, -(2**63) - 1, 1.0, "1", True])
def test_a_sequence_is_an_integer_of_64_bits(bad: Any) -> None:
    """B96."""
    assert Entry("x", sequence=2**63 - 1).sequence == 2**63 - 1
    with pytest.raises(Invalid):
        Entry("x", sequence=bad)


@pytest.mark.parametrize("name", ["key", "namespace", "partition"])
def test_names_of_an_entry_are_names(name: str) -> None:
    """B21, case_C21."""
    for bad in (" ", "a\0", "\ud800", 7):
        with pytest.raises(Invalid):
            entry(**{name: bad})
    with pytest.raises(LimitExceeded) as raised:
        entry(**{name: "x" * 257})
    assert raised.value.field == name


@pytest.mark.parametrize("bad", ["", "note ", "ENTRY", None, 1])
def test_an_unknown_kind_is_refused_with_the_known_ones(bad: Any) -> None:
    with pytest.raises(Invalid, match="'entry', 'chunk', 'turn'"):
        Entry("x", kind=bad)


@pytest.mark.parametrize(
    "name", ["consent", "lineage", "source", "origin", "reflection"]
)
@pytest.mark.parametrize("bad", ["user", 7, ["a"]])
def test_a_part_of_another_type_is_refused_by_name(name: str, bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        entry(**{name: bad})
    assert raised.value.field == name


@pytest.mark.parametrize("bad", ["", "User", "admin", None])
def test_an_origin_needs_a_known_trust(bad: Any) -> None:
    with pytest.raises(Invalid) as raised:
        Origin(bad, "ada")
    assert raised.value.field == "trust"


def test_an_origin_needs_a_writer() -> None:
    with pytest.raises(Invalid) as raised:
        Origin(Trust.USER, " ")
    assert raised.value.field == "writer"


def test_words_become_members() -> None:
    """Callers may write ``"user"``; what is kept is the member."""
    assert Origin("user", "ada").trust is Trust.USER  # type: ignore[arg-type] # a word
    assert Entry("x", kind="note").kind is types.Kind.NOTE  # type: ignore[arg-type]


def test_an_actor_needs_a_name() -> None:
    assert Actor().name == "system"
    with pytest.raises(Invalid):
        Actor("")


@pytest.mark.parametrize(
    ("field", "bad"),
    [("source", "robot"), ("scope", "tenant"), ("visible", 1), ("granted_at", 5)],
)
def test_a_consent_is_valid_from_the_start(field: str, bad: Any) -> None:
    """B139."""
    with pytest.raises(Invalid) as raised:
        Consent(**{field: bad})
    assert raised.value.field == f"consent.{field}"


def test_a_consent_has_defaults_and_keeps_utc() -> None:
    """B97."""
    local = NOON.astimezone(dt.timezone(dt.timedelta(hours=9)))
    consent = Consent(granted_at=local)
    assert (consent.source, consent.scope, consent.visible) == ("user", "thread", True)
    assert consent.granted_at is not None
    assert consent.granted_at.tzinfo is dt.UTC


def test_lineage_keeps_the_order_and_drops_repeats() -> None:
    """B104."""
    assert Lineage(["b", "a", "b"]).source_ids == ("b", "a")  # type: ignore[arg-type] # a list


@pytest.mark.parametrize("bad", ["a", {"a"}, None, [""], [" "], ["a\0"], [7]])
def test_lineage_is_a_list_of_ids(bad: Any) -> None:
    """B105."""
    with pytest.raises(Invalid):
        Lineage(bad)


def test_a_lineage_id_is_at_most_256_bytes() -> None:
    """B105."""
    with pytest.raises(LimitExceeded):
        Lineage(("x" * 257,))


@pytest.mark.parametrize("bad", [-1, 2**31, 1.0, True, "1"])
def test_a_place_in_a_stream_is_a_small_integer(bad: Any) -> None:
    assert SourceRef("s", 2**31 - 1).ordinal == 2**31 - 1
    with pytest.raises(LimitExceeded) as raised:
        SourceRef("s", bad)
    assert raised.value.field == "source.ordinal"


def test_a_stream_needs_a_key_and_a_storable_uri() -> None:
    for key, uri in (("", ""), ("s", "a\0")):
        with pytest.raises(Invalid):
            SourceRef(key, uri=uri)


def test_pages_and_recalls_are_sequences() -> None:
    items: Any = ("a", "b")
    for sequence in (Page(items=items), Recalled(hits=items)):
        assert [len(sequence), sequence[0], sequence[-1:]] == [2, "a", ("b",)]
        assert [*map(str, sequence)] == ["a", "b"]


def test_a_chunk_needs_the_source_it_is_a_part_of() -> None:
    assert entry(kind="chunk", source=SourceRef("book")).kind is types.Kind.CHUNK
    with pytest.raises(Invalid) as raised:
        entry(kind="chunk")
    assert raised.value.field == "source"


def test_an_id_is_a_uuid_or_the_text_of_one() -> None:
    known = types.uuid7()
    assert {types.check_uuid(form) for form in (known, str(known), known.hex)} == {
        known
    }
    for bad in ("", "1", None, 7, f"{known}0"):
        with pytest.raises(Invalid, match="must be a UUID"):
            types.check_uuid(bad)


def test_an_embedders_identity_reads_as_such() -> None:
    assert str(types.EmbedderIdentity("openai", "small", 3)) == "openai/small (3)"
