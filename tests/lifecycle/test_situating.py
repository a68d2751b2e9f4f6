"""What full text and the embedder see besides the words: B350 to B352."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.conf import Limits
from prism_memory.lifecycle.entries import Row, prepare
from prism_memory.lifecycle.situating import MOST_CHARACTERS, index_texts
from prism_memory.models import Embedding, Record
from prism_memory.redaction import Redaction
from prism_memory.types import Entry, Kind, Origin, SourceRef, Trust
from tests.factories import make_memory, make_record

MAY = dt.datetime(2023, 5, 8, 13, 56, tzinfo=dt.UTC)
BEN = Origin(Trust.USER, "Ben")

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda values: st.lists(values) | st.dictionaries(WORDS, values),
    max_leaves=8,
)
METADATA = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(
        ("title", "subject", "predicate", "object", "topics", "tags", "caption"),
        JSON | st.lists(WORDS),
    ),
)
TEXTS = WORDS.filter(str.strip)


def situated(entry: Entry, **more: Any) -> Row:
    defaults: dict[str, Any] = {"origin": BEN, "redaction": Redaction()}
    (row,) = prepare([entry], limits=Limits(), **{**defaults, **more})
    return row


def texts(entry: Entry, **more: Any) -> tuple[str | None, str | None]:
    """Return what full text and what the embedder sees; None where it is the text."""
    row = situated(entry, **more)
    return row.lexical_text, row.embed_text


def test_a_turn_is_led_by_who_speaks_and_for_full_text_by_the_date():
    entry = Entry("Look at this!", kind=Kind.TURN, happened_at=MAY)
    assert texts(entry) == ("8 May 2023 Ben: Look at this!", "Ben: Look at this!")


def test_what_a_picture_shows_stands_behind_the_words():
    entry = Entry("Look!", kind=Kind.TURN, metadata={"caption": "a photo of a tram"})
    assert texts(entry) == ("Ben: Look! [a photo of a tram]",) * 2


def test_subject_date_and_topics_stand_in_one_line_before_the_text():
    """B350."""
    entry = Entry(
        "He moved.",
        metadata={
            "title": "Moves",
            "subject": "Ben",
            "topics": ["home", "work"],
            "tags": ["work", "2023"],
        },
        happened_at=MAY,
    )
    assert texts(entry) == (
        "[Context: Moves; Ben; as of 8 May 2023; topics: home, work, 2023]\nHe moved.",
        "[Context: Moves; Ben; topics: home, work, 2023]\nHe moved.",
    )


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ({"subject": "Ben", "predicate": "lives in", "object": "Porto"}, 0),
        ({"subject": "Ben", "object": "Porto"}, 1),
        ({"subject": "Ben", "predicate": "lives in"}, 2),
        ({"predicate": "lives in", "object": "chat.completion"}, 3),
    ],
)
def test_of_half_a_claim_what_it_speaks_of_is_shown(claim, line):
    """B350."""
    expected = ["Ben lives in Porto", "Ben Porto", "Ben", None][line]
    before = f"[Context: {expected}]\n" if expected else None
    seen = f"{before}He moved." if before else None
    assert texts(Entry("He moved.", metadata=claim)) == (seen, seen)


def test_a_turn_with_a_title_has_both():
    entry = Entry("Yes.", kind=Kind.TURN, metadata={"title": "Tax"}, happened_at=MAY)
    assert texts(entry) == (
        "[Context: Tax; as of 8 May 2023]\nBen: Yes.",
        "[Context: Tax]\nBen: Yes.",
    )


def test_a_chunk_of_a_document_is_led_by_its_title():
    entry = Entry(
        "Row 7.", kind=Kind.CHUNK, metadata={"title": "Prices"}, source=SourceRef("a")
    )
    assert texts(entry) == ("[Context: Prices]\nRow 7.",) * 2


def test_only_full_text_sees_a_date():
    """Measured: it helps words and hurts vectors."""
    entry = Entry("It rained.", happened_at=MAY)
    assert texts(entry) == ("[Context: as of 8 May 2023]\nIt rained.", None)


@pytest.mark.parametrize("kind", [Kind.ENTRY, Kind.NOTE])
@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"n": 1, "topic": "food", "speaker": "Ada"},
        {"title": " ", "subject": "\x01\n", "topics": [], "tags": [""]},
        {"title": 7, "subject": ["Ben"], "topics": "home", "tags": {"a": 1}},
        {"topics": [7, None, ["home"]], "caption": None},
    ],
)
def test_a_text_without_such_fields_is_indexed_as_it_is(kind, metadata):
    """B351."""
    assert texts(Entry("It rained.", kind=kind, metadata=metadata)) == (None, None)


@pytest.mark.django_db
def test_the_time_of_writing_is_no_date_of_the_content():
    """B351."""
    record = make_record("It rained.")
    assert record.created_at is not None
    assert (record.lexical_text, record.embed_text) == (None, None)


@override_settings(PRISM_MEMORY={"SITUATE": "off"})
def test_off_indexes_the_bare_text():
    """B352."""
    entry = Entry("Yes.", kind=Kind.TURN, metadata={"title": "Tax"}, happened_at=MAY)
    assert texts(entry) == (None, None)


@pytest.mark.parametrize(
    ("given_texts", "seen"),
    [
        ({"lexical_text": "own"}, ("own", "Ben: Yes.")),
        ({"embed_text": "own"}, ("8 May 2023 Ben: Yes.", "own")),
        ({"lexical_text": "a", "embed_text": "b"}, ("a", "b")),
    ],
)
def test_an_index_text_that_the_caller_gives_wins_by_itself(given_texts, seen):
    """B352."""
    entry = Entry("Yes.", kind=Kind.TURN, happened_at=MAY, **given_texts)
    assert texts(entry) == seen


@given(
    TEXTS,
    METADATA,
    st.text(max_size=64),
    st.none() | st.datetimes(dt.datetime(2, 1, 1), timezones=st.just(dt.UTC)),  # noqa: DTZ001
)
def test_the_words_are_shown_whole_and_what_is_added_is_short_and_clean(
    text, metadata, speaker, at
):
    """B350: the text itself is never touched."""
    at = at and min(at, dt.datetime(9999, 1, 1, tzinfo=dt.UTC))
    entry = Entry(text, metadata=metadata, happened_at=at)
    for shown in index_texts(entry, speaker=speaker).values():
        assert len(shown) - len(text) <= 2 * MOST_CHARACTERS
        # What is added may hold the text too: it stands where the rest is clean.
        places = [n for n in range(len(shown)) if shown.startswith(text, n)]
        assert any(clean(shown[:n], shown[n + len(text) :]) for n in places)


def clean(before: str, behind: str) -> bool:
    """Tell whether nothing but the end of the context's line is a control character."""
    added = before.replace("]\n", "]", 1) + behind
    return not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in added)


@pytest.mark.parametrize("name", ["title", "subject", "caption"])
@pytest.mark.parametrize("value", ["word " * 500, "x" * 2000])
def test_what_is_added_is_cut_at_a_word_if_there_is_one(name, value):
    entry = Entry("Yes.", kind=Kind.TURN, metadata={name: value})
    row = situated(entry)
    assert row.embed_text is not None
    added = len(row.embed_text) - len("Yes.")
    assert MOST_CHARACTERS - len("word ") <= added <= MOST_CHARACTERS + len("Ben: ")
    assert "wor]" not in row.embed_text


def test_many_topics_are_cut_between_two():
    entry = Entry("Yes.", metadata={"topics": [f"topic-{n}" for n in range(200)]})
    line = (situated(entry).embed_text or "").partition("\n")[0]
    assert len(line) < MOST_CHARACTERS
    assert line.endswith("]")
    assert not line.endswith(",]")


def test_a_text_at_its_limit_may_still_be_situated():
    text = "x" * Limits().text_characters
    entry = Entry(text, metadata={"title": "Long"})
    assert texts(entry)[1] == f"[Context: Long]\n{text}"


def test_no_secret_comes_back_by_way_of_a_field():
    """B133: metadata is redacted first, and what is put together once more."""
    secret = Redaction(secrets=("hunter2", "Ben: y"))
    metadata = {"title": "key hunter2", "topics": ["hunter2"], "caption": "hunter2"}
    entry = Entry("yes", kind=Kind.TURN, metadata=metadata)
    for shown in texts(entry, redaction=secret):
        assert shown == (
            "[Context: key [redacted]; topics: [redacted]]\n[redacted]es [[redacted]]"
        )


def test_the_hosts_redactor_sees_the_speaker_before_the_provider_does():
    redaction = Redaction(lambda text: text.replace("@acme.org", "@[hidden]"))
    entry = Entry("Hello.", kind=Kind.TURN, origin=Origin(Trust.USER, "ben@acme.org"))
    assert texts(entry, redaction=redaction) == ("ben@[hidden]: Hello.",) * 2


def test_another_index_text_is_another_hash_of_what_is_embedded():
    plain, titled = Entry("Yes."), Entry("Yes.", metadata={"title": "Tax"})
    assert situated(plain).sha256 == situated(titled).sha256
    assert situated(plain).embed_sha256 != situated(titled).embed_sha256
    dated = Entry("Yes.", happened_at=MAY)  # the embedder does not see a date
    assert situated(plain).embed_sha256 == situated(dated).embed_sha256


@pytest.mark.django_db
class TestStored:
    TITLED = Entry("He said yes.", key="a", metadata={"title": "Quarterly taxes"})

    def test_what_is_found_by_its_title_comes_back_verbatim(self):
        """B350."""
        memory = make_memory()
        memory.remember(self.TITLED)
        (hit,) = memory.recall("quarterly taxes", legs="text").hits
        assert (hit.text, hit.metadata) == ("He said yes.", self.TITLED.metadata)
        assert memory.get(hit.id).text == "He said yes."
        assert [item.text for item in memory.list().items] == ["He said yes."]

    def test_the_same_again_changes_nothing(self):
        memory = make_memory()
        memory.remember(self.TITLED)
        assert not memory.remember(self.TITLED).changed
        assert Record.objects.get().version == 1

    def test_another_title_alone_indexes_the_record_anew(self):
        memory = make_memory()
        memory.remember(self.TITLED, wait=False)
        before = bytes(Embedding.objects.get().sha256)
        retitled = Entry("He said yes.", key="a", metadata={"title": "Wedding"})
        stored = memory.remember(retitled)
        assert stored.changed == frozenset(stored.accepted)
        assert bytes(Embedding.objects.get().sha256) != before
        assert not memory.recall("taxes", legs="text").hits
        assert memory.recall("wedding", legs="text").hits

    def test_remembering_after_the_setting_changed_indexes_the_record_anew(
        self, settings
    ):
        """B352."""
        memory = make_memory()
        memory.remember(self.TITLED)
        before = bytes(Embedding.objects.get().sha256)
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "SITUATE": "off"}
        stored = memory.remember(self.TITLED)
        assert stored.changed == frozenset(stored.accepted)
        record = Record.objects.get()
        assert (record.lexical_text, record.embed_text) == (None, None)
        embedding = Embedding.objects.get()
        assert bytes(embedding.sha256) != before
        assert embedding.vector is None
        assert not memory.recall("quarterly taxes", legs="text").hits
