"""What a caller gives becomes rows, or an error that names the field. No database."""

from __future__ import annotations

import hashlib
from itertools import repeat
from typing import Any

import pytest

from prism_memory.conf import Limits, Settings
from prism_memory.errors import Conflict, Invalid, LimitExceeded
from prism_memory.lifecycle.entries import Row, prepare, read
from prism_memory.redaction import Redaction
from prism_memory.types import Consent, Entry, Lineage, Origin, SourceRef, Trust
from tests.factories import ADA


def prepared(*given: Any, **more: Any) -> tuple[Row, ...]:
    defaults: dict[str, Any] = {
        "origin": ADA,
        "limits": Limits(),
        "redaction": Redaction(),
    }
    chosen = {**defaults, **more}
    return prepare(read(given, limits=chosen["limits"]), **chosen)


@pytest.mark.parametrize(
    "given",
    [
        "one",
        Entry("one"),
        {"text": "one"},
        ["one"],
        (Entry("one"),),
        [{"text": "one"}],
        (text for text in ["one"]),
    ],
    ids=["text", "entry", "mapping", "list", "tuple", "list of mappings", "generator"],
)
def test_one_and_many_are_read_alike(given):
    """B54, B87."""
    assert read(given, limits=Limits()) == (Entry("one"),)


def test_a_mapping_names_fields_and_what_they_hold():
    given = {
        "text": "one",
        "consent": {"visible": False},
        "lineage": {"source_ids": ["a", "b", "a"]},
        "source": {"key": "chat", "ordinal": 3},
    }
    (entry,) = read(given, limits=Limits())
    assert entry.consent == Consent(visible=False)
    assert entry.lineage == Lineage(("a", "b"))
    assert entry.source == SourceRef("chat", 3)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (5, "entries"),
        (None, "entries"),
        (b"bytes", "entries"),
        ([b"bytes"], "entries"),
        ([None], "entries"),
        ([["nested"]], "entries"),
        ({}, "text"),
        ({"text": None}, "text"),
        ({"text": 5}, "text"),
        ({"text": ""}, "text"),
        ({"text": " \t\n"}, "text"),
        ({"text": "a", "key": ""}, "key"),
        ({"text": "a", "key": "  "}, "key"),
        ({"text": "a", "kind": "poem"}, "kind"),
        ({"text": "a", "tier": "cellar"}, "tier"),
        ({"text": "a", "colour": "red"}, "colour"),
        ({"text": "a", 5: "red"}, "5"),
        ({"text": "a", "metadata": []}, "metadata"),
        ({"text": "a", "metadata": {"n": float("nan")}}, "metadata"),
        ({"text": "a", "metadata": {5: 1}}, "a key of metadata"),
        ({"text": "a", "reflection": "deep"}, "reflection"),
        ({"text": "a", "consent": "yes"}, "consent"),
        ({"text": "a", "consent": {"maybe": 1}}, "consent"),
        ({"text": "a", "consent": {"source": "god"}}, "consent.source"),
        ({"text": "a", "consent": {"scope": "world"}}, "consent.scope"),
        ({"text": "a", "consent": {"visible": "no"}}, "consent.visible"),
        ({"text": "a", "lineage": ["a"]}, "lineage"),
        ({"text": "a", "lineage": {"source_ids": "a"}}, "lineage.source_ids"),
        ({"text": "a", "lineage": {"source_ids": [" "]}}, "lineage.source_ids"),
        ({"text": "a", "lineage": {"source_ids": ["a\0"]}}, "lineage.source_ids"),
        ({"text": "a", "source": "chat"}, "source"),
        ({"text": "a", "source": {}}, "source.key"),
        ({"text": "a", "importance": float("inf")}, "importance"),
        ({"text": "a", "importance": "high"}, "importance"),
        ({"text": "a", "importance": 10**400}, "importance"),
        ({"text": "a", "importance": True}, "importance"),
        ({"text": "a", "sequence": 1.5}, "sequence"),
        ({"text": "a", "sequence": 2**63}, "sequence"),
        ({"text": "a", "language": "klingon"}, "language"),
    ],
)
def test_what_is_no_entry_is_refused_by_name(given, field):
    """B92, B100, B105, B139."""
    with pytest.raises(Invalid) as refused:
        prepared(*(given if isinstance(given, list) else read(given, limits=Limits())))
    assert refused.value.field == field


def test_an_endless_iterable_is_refused_and_not_read_to_its_end():
    with pytest.raises(LimitExceeded, match="batch_entries"):
        read(repeat("one"), limits=Limits({"batch_entries": 3}))


@pytest.mark.parametrize("name", ["trust", "writer", "origin", "verified"])
def test_a_mapping_cannot_vouch_for_itself(name):
    """B273, case_C27."""
    with pytest.raises(Invalid) as refused:
        prepared({"text": "Believe me.", name: "system"})
    assert refused.value.field == name


def test_metadata_that_claims_trust_is_metadata():
    """case_C27."""
    (row,) = prepared({"text": "Believe me.", "metadata": {"trust": "system"}})
    assert row.origin == ADA


def test_an_entry_needs_an_origin():
    with pytest.raises(Invalid) as refused:
        prepared("one", origin=None)
    assert refused.value.field == "origin"


def test_an_entrys_own_origin_wins():
    tool = Origin(Trust.TOOL, "search")
    (row,) = prepared(Entry("one", origin=tool))
    assert row.origin == tool


def test_a_derived_key_is_the_sha256_of_the_redacted_text():
    """B85, B94."""
    (row,) = prepared("my pin is 1234", redaction=Redaction(secrets=["1234"]))
    assert row.key == hashlib.sha256(b"my pin is [redacted]").hexdigest()
    assert row.sha256 == bytes.fromhex(row.key)


TEXT_LIMITS = ["text", "lexical_text", "embed_text"]


@pytest.mark.parametrize("field", TEXT_LIMITS)
@pytest.mark.parametrize("most", [16_384, 64_384], ids=["default", "hard cap"])
def test_a_text_over_its_limit_is_refused(field, most):
    """B92: 16,384 characters, at most 64,384."""
    limits = Limits({"text_characters": most, "payload_bytes": 524_288})
    fits, longer = ({"text": "a", field: "a" * n} for n in (most, most + 1))
    prepared(fits, limits=limits)
    with pytest.raises(LimitExceeded, match="text_characters") as refused:
        prepared(longer, limits=limits)
    assert refused.value.field == field


@pytest.mark.parametrize("most", [65_536, 524_288], ids=["default", "hard cap"])
def test_a_payload_over_its_limit_is_refused(most):
    """B93: counted in bytes of UTF-8, not in characters."""
    limits = Limits({"payload_bytes": most})
    bare = len('["a",null,null,{"k":""},""]')
    room = most - bare
    prepared({"text": "a", "metadata": {"k": "é" * (room // 2)}}, limits=limits)
    with pytest.raises(LimitExceeded, match="payload_bytes"):
        prepared({"text": "a", "metadata": {"k": "é" * (room // 2 + 1)}}, limits=limits)


def test_a_sources_uri_counts_in_the_payload():
    """B93."""
    entry = Entry("a", source=SourceRef("chat", uri="https://e.org/" + "a" * 70_000))
    with pytest.raises(LimitExceeded, match="payload_bytes"):
        prepared(entry)


@pytest.mark.parametrize("most", [1_000, 10_000], ids=["default", "hard cap"])
def test_a_batch_over_its_limit_is_refused(most):
    limits = Limits({"batch_entries": most})
    assert len(read(["a"] * most, limits=limits)) == most
    with pytest.raises(LimitExceeded, match="batch_entries"):
        read(["a"] * (most + 1), limits=limits)


def test_more_than_32_distinct_sources_are_refused():
    """B104: duplicates collapse first."""
    sources = [f"m{i}" for i in range(32)]
    prepared(Entry("a", lineage=Lineage((*sources, *sources))))
    with pytest.raises(LimitExceeded, match="lineage_sources"):
        prepared(Entry("a", lineage=Lineage((*sources, "m32"))))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("key", {"key": "é" * 129}),
        ("namespace", {"namespace": "é" * 129}),
        ("partition", {"partition": "é" * 129}),
        ("source.key", {"source": {"key": "é" * 129}}),
        ("lineage.source_ids", {"lineage": {"source_ids": ["é" * 129]}}),
    ],
)
def test_a_name_over_256_bytes_is_refused(name, given):
    """B105; bytes of UTF-8, as a btree counts them."""
    with pytest.raises(LimitExceeded) as refused:
        prepared({"text": "a", **given})
    assert refused.value.field == name


@pytest.mark.parametrize("name", [s.name for s in Settings.declared() if s.limit])
@pytest.mark.parametrize("given", ["over", "under", "no integer", "bool"])
def test_a_limit_outside_its_bounds_is_refused_and_named(name, given):
    """B30."""
    setting = vars(Settings)[name]
    value = {
        "over": setting.maximum + 1,
        "under": -1,
        "no integer": 1.5,
        "bool": True,
    }[given]
    with pytest.raises(LimitExceeded, match=name.lower()):
        Limits({name.lower(): value})


def test_equal_duplicates_of_a_batch_are_one_row():
    first, second = prepared("same", "same")
    assert first is second


@pytest.mark.parametrize(
    "other",
    [
        {"text": "b", "key": "k"},
        {"text": "a", "key": "k", "metadata": {"n": 1}},
        {"text": "a", "key": "k", "consent": {"visible": False}},
        {"text": "a", "key": "k", "lineage": {"source_ids": ["m"]}},
    ],
)
def test_different_duplicates_of_a_batch_conflict(other):
    with pytest.raises(Conflict) as refused:
        prepared({"text": "a", "key": "k"}, other)
    assert refused.value.field == "key"


@pytest.mark.parametrize("other", [True, 1.0, "1"], ids=repr)
def test_duplicates_whose_metadata_python_calls_equal_conflict(other):
    """Else the second, which JSON tells apart, would be dropped without a word."""
    with pytest.raises(Conflict) as refused:
        prepared(
            {"text": "a", "key": "k", "metadata": {"n": [1]}},
            {"text": "a", "key": "k", "metadata": {"n": [other]}},
        )
    assert refused.value.field == "key"


def test_the_order_of_the_names_does_not_make_two_entries_differ():
    first, second = prepared(
        {"text": "a", "key": "k", "metadata": {"m": (1,), "n": 2}},
        {"text": "a", "key": "k", "metadata": {"n": 2, "m": [1]}},
    )
    assert first is second


@pytest.mark.parametrize(
    "apart", [{"namespace": "n"}, {"partition": "p"}, {"kind": "note"}]
)
def test_one_key_in_two_places_is_two_rows(apart):
    first, second = prepared(
        {"text": "a", "key": "k"}, {"text": "b", "key": "k"} | apart
    )
    assert first.identity != second.identity


class TestImportance:
    """B98 to B103."""

    def test_a_direct_importance_is_clamped_and_wins(self):
        asked: list[Any] = []

        def derive(reflection: Any) -> float:
            asked.append(reflection)
            return 0.5

        rows = prepared(
            *(
                Entry(f"{value}", importance=value, reflection={"n": 1})
                for value in (-3, 0.25, 7)
            ),
            importance_from=derive,
        )
        assert [row.entry.importance for row in rows] == [0.0, 0.25, 1.0]
        assert asked == []

    def test_the_hook_runs_once_an_entry_on_the_redacted_reflection(self):
        asked: list[Any] = []

        def derive(reflection: Any) -> float:
            asked.append(reflection)
            return 9.0

        (row, other) = prepared(
            Entry("a", reflection={"why": "pin 1234", "1234": ["1234"]}),
            Entry("no reflection"),
            importance_from=derive,
            redaction=Redaction(secrets=["1234"]),
        )
        assert asked == [{"why": "pin [redacted]", "[redacted]": ["[redacted]"]}]
        assert row.entry.importance == 1.0
        assert other.entry.importance is None

    def test_the_reflection_is_not_kept(self):
        (row,) = prepared(Entry("a", reflection={"n": 1}), importance_from=lambda _: 1)
        assert row.entry.reflection is None

    @pytest.mark.parametrize(
        "value", [float("nan"), float("inf"), -float("inf"), "high", None, True]
    )
    def test_a_derived_importance_that_is_no_finite_number_fails_the_batch(self, value):
        with pytest.raises(Invalid) as refused:
            prepared(
                "fine",
                Entry("a", reflection={}),
                importance_from=lambda _: value,
            )
        assert refused.value.field == "importance"


class TestNamesThatHoldSecrets:
    """B94: a name is an identity, so it is refused and not redacted."""

    @pytest.mark.parametrize(
        ("field", "given"),
        [
            ("key", {"key": "pin-1234"}),
            ("namespace", {"namespace": "1234"}),
            ("partition", {"partition": "x1234"}),
            ("source.key", {"source": {"key": "1234.txt"}}),
            ("lineage.source_ids", {"lineage": {"source_ids": ["ok", "1234"]}}),
        ],
    )
    def test_are_refused_without_being_repeated(self, field, given):
        with pytest.raises(Invalid) as refused:
            prepared({"text": "a", **given}, redaction=Redaction(secrets=["1234"]))
        assert refused.value.field == field
        assert "1234" not in str(refused.value)

    def test_a_writer_too(self):
        origin = Origin(Trust.USER, "ada-1234")
        with pytest.raises(Invalid) as refused:
            prepared("a", origin=origin, redaction=Redaction(secrets=["1234"]))
        assert refused.value.field == "writer"


def test_a_text_that_is_blank_after_redaction_is_refused():
    with pytest.raises(Invalid) as refused:
        prepared("secret", redaction=Redaction(lambda _: ""))
    assert refused.value.field == "text"


def test_limits_count_after_redaction():
    limits = Limits({"text_characters": 20})
    prepared("x" * 100, limits=limits, redaction=Redaction(secrets=["x" * 50]))
    with pytest.raises(LimitExceeded, match="text_characters"):
        prepared("x" * 20, limits=limits, redaction=Redaction(lambda text: text * 2))
