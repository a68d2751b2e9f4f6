"""What remember stores in each field: order, consent, text, times, sources."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from prism_memory.errors import Conflict, Invalid, LimitExceeded
from prism_memory.memory import Memory
from prism_memory.models import Record, Source
from prism_memory.types import (
    Consent,
    ConsentScope,
    ConsentSource,
    Entry,
    Kind,
    Origin,
    SourceRef,
    Trust,
)
from tests.factories import (
    NOON,
    make_memory,
    make_scope,
    remember_one,
)
from tests.tables import counts

BERLIN = ZoneInfo("Europe/Berlin")

pytestmark = pytest.mark.django_db


@contextmanager
def session_zone(name: str) -> Iterator[None]:
    """Let the database answer in a zone, as ``DATABASES[…]["TIME_ZONE"]`` does."""
    before = connection.settings_dict["TIME_ZONE"]
    _set_session_zone(name)
    try:
        yield
    finally:
        _set_session_zone(before)


def _set_session_zone(name: str | None) -> None:
    connection.settings_dict["TIME_ZONE"] = name
    for cached in ("timezone", "timezone_name"):
        vars(connection).pop(cached, None)
    connection.ensure_timezone()


def stored(record_id: uuid.UUID) -> Record:
    return Record.objects.get(tenant="acme", id=record_id)


def one(memory: Memory, given: Any, **more: Any) -> Record:
    (record_id,) = memory.remember(given, **more).accepted
    return stored(record_id)


class TestSequence:
    """B96."""

    def test_it_follows_the_callers_order(self):
        memory = make_memory()
        texts = ["z", "a", "m", "b", "y"]
        memory.remember(texts)
        assert [item.text for item in memory.list()] == texts

    def test_it_grows_for_ever(self):
        memory, other = make_memory(), make_memory(make_scope(tenant="globex"))
        numbers = []
        for round_ in range(3):
            for writer in (memory, other):
                writer.remember([f"{round_}-{i}" for i in range(3)])
                numbers.append([item.sequence for item in writer.list()][-3:])
        flat = [number for batch in numbers for number in batch]
        assert flat == sorted(set(flat))

    def test_a_given_one_is_kept_and_may_be_anywhere(self):
        memory = make_memory()
        memory.remember(
            [Entry("late", sequence=2**62), Entry("early", sequence=-5), "x"]
        )
        assert [item.text for item in memory.list()] == ["early", "x", "late"]

    def test_an_update_without_one_keeps_the_old(self):
        memory = make_memory()
        first = one(memory, {"text": "old", "key": "k"})
        assert one(memory, {"text": "new", "key": "k"}).sequence == first.sequence

    def test_one_entrys_number_is_never_taken_for_anothers(self):
        """The next number of the database may be what another entry was given."""
        memory = make_memory()
        old = one(memory, {"text": "old", "key": "k"})
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT currval("
                "pg_get_serial_sequence('prism_memory_record', 'sequence'))"
            )
            (last,) = cursor.fetchone()
        memory.remember(
            [
                {"text": "new", "key": "k"},
                *({"text": f"{n}", "sequence": n} for n in range(last, last + 5)),
            ]
        )
        assert stored(old.id).sequence == old.sequence

    def test_a_null_never_reaches_the_table(self):
        memory = make_memory()
        memory.remember(["a", Entry("b", sequence=None), Entry("c", sequence=9)])
        assert not Record.objects.filter(sequence__isnull=True).exists()


class TestConsent:
    """B97, and data-model.md: entries, turns and notes are visible, others are not."""

    @pytest.mark.parametrize("kind", [Kind.ENTRY, Kind.TURN, Kind.NOTE])
    @pytest.mark.parametrize(
        ("trust", "source"),
        [
            (Trust.USER, "user"),
            (Trust.AGENT, "agent"),
            (Trust.SUBAGENT, "agent"),
            (Trust.TOOL, "system"),
            (Trust.DOCUMENT, "system"),
            (Trust.CONSOLIDATOR, "system"),
            (Trust.SYSTEM, "system"),
        ],
    )
    def test_its_source_comes_from_the_trust_class(self, kind, trust, source):
        record = one(
            make_memory(), Entry("words", kind=kind), origin=Origin(trust, "writer")
        )
        assert (record.consent_source, record.consent_scope) == (source, "thread")
        assert record.visible is True
        assert record.granted_at == record.created_at
        assert record.revoked_at is None

    def test_chunks_have_none_until_it_is_given(self):
        """For facts see ``tests.facts.test_isolation``."""
        entry = Entry("words", kind=Kind.CHUNK, source=SourceRef("doc"))
        record = one(make_memory(), entry)
        assert (record.consent_source, record.consent_scope) == ("", "")
        assert (record.visible, record.granted_at) == (None, None)
        assert len(make_memory().list()) == 1
        assert len(make_memory(require_consent=True).list()) == 0

    def test_a_given_one_is_stored(self):
        consent = Consent(ConsentSource.AGENT, ConsentScope.PROFILE, granted_at=NOON)
        place = SourceRef("doc")
        entry = Entry("words", kind=Kind.CHUNK, source=place, consent=consent)
        record = one(make_memory(), entry)
        assert (record.consent_source, record.consent_scope) == ("agent", "profile")
        assert (record.visible, record.granted_at) == (True, NOON)

    def test_what_is_hidden_from_the_start_is_not_seen(self):
        """B134."""
        memory = make_memory()
        record = one(memory, Entry("words", consent=Consent(visible=False)))
        assert (record.visible, record.granted_at) == (False, None)
        assert len(memory.list()) == len(memory.recall("words")) == 0

    def test_repeating_it_is_fine(self):
        memory = make_memory()
        entry = Entry("words", consent=Consent())
        assert one(memory, entry).id == one(memory, entry).id

    @pytest.mark.parametrize(
        "other",
        [
            Consent(ConsentSource.SYSTEM),
            Consent(scope=ConsentScope.PROFILE),
            Consent(visible=False),
        ],
    )
    def test_remembering_again_does_not_change_it(self, other):
        memory = make_memory()
        record = one(memory, Entry("words", key="k"))
        with pytest.raises(Conflict) as refused:
            memory.remember(Entry("new words", key="k", consent=other))
        assert refused.value.field == "consent"
        assert stored(record.id).text == "words"


ODD: dict[str, str] = {
    "emoji with joiners": "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{ROCKET}",
    "right to left": "invoice \N{RIGHT-TO-LEFT OVERRIDE}fdp.exe",
    "tags": "a\N{TAG LATIN SMALL LETTER A}\N{CANCEL TAG}",
    "BOM": "\ufeffwords",
    "noncharacter": "\uffff\U0010ffff",
    "combining": "e\N{COMBINING ACUTE ACCENT}" * 100,
    "decomposed": "\N{LATIN SMALL LETTER E WITH ACUTE} e\N{COMBINING ACUTE ACCENT}",
    "line ends": " a\r\nb\rc\n\n",
    "controls": "\x01\x02\x1f\x7f\x85",
    "zero width only": "\u200b",
    "one long word": "a" * 16_384,
    "quotes": """' " \\ % %s %(x)s {} {0} -- /* $1""",
    "scope mark": "\x1facme",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_text_comes_back_byte_for_byte(text):
    """case_C21."""
    memory = make_memory()
    given = {"text": text, "key": "k", "metadata": {text[:40]: text[:40]}}
    (record_id,) = memory.remember(given, wait=True).accepted
    item = memory.get(record_id)
    assert item.text.encode() == text.encode()
    assert item.metadata == {text[:40]: text[:40]}
    assert memory.list()[0].text == text


@pytest.mark.parametrize("name", ["text", "key", "namespace", "partition", "metadata"])
@pytest.mark.parametrize(
    ("odd", "says"), [("ab\0c", "NUL"), ("ab\udc80c", "surrogate")]
)
def test_what_cannot_be_stored_is_refused_with_field_and_position(name, odd, says):
    """case_C21."""
    given: dict[str, Any] = {"text": "words"}
    given |= {name: {"n": [odd]} if name == "metadata" else odd}
    before = counts()
    with pytest.raises(Invalid, match=f"{name}.*{says}.* at position 2") as refused:
        make_memory().remember(["fine", given])
    assert refused.value.field == name
    assert counts() == before


def test_a_line_of_a_megabyte_is_refused_by_its_limit():
    """case_C21."""
    with pytest.raises(LimitExceeded, match="text_characters"):
        make_memory().remember("a" * 2**20)


class TestTimes:
    """case_C22, B311."""

    @pytest.mark.parametrize(
        ("given", "utc"),
        [
            (
                dt.datetime(2026, 1, 1, 9, tzinfo=dt.timezone(dt.timedelta(hours=9))),
                "2026-01-01T00:00:00+00:00",
            ),
            (
                # A time that the clock change skips is read with the offset before it.
                dt.datetime(2026, 3, 29, 2, 30, tzinfo=BERLIN),
                "2026-03-29T01:30:00+00:00",
            ),
            (
                dt.datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN),
                "2026-10-25T00:30:00+00:00",
            ),
            (
                dt.datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN),
                "2026-10-25T01:30:00+00:00",
            ),
            (dt.datetime(1, 1, 2, tzinfo=dt.UTC), "0001-01-02T00:00:00+00:00"),
            (
                dt.datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=dt.UTC),
                "9999-12-30T23:59:59.999999+00:00",
            ),
        ],
    )
    def test_an_aware_time_is_kept_in_utc(self, given, utc):
        memory = make_memory()
        (record_id,) = memory.remember(Entry("words", happened_at=given)).accepted
        found = memory.get(record_id).happened_at
        assert found is not None
        assert found.isoformat() == utc

    @pytest.mark.parametrize(
        "zone", ["Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"]
    )
    def test_the_first_and_the_last_time_are_read_in_any_session(self, zone):
        """case_C22: one record that cannot be read would hide all the others."""
        first = dt.datetime(1, 1, 2, tzinfo=dt.UTC)
        last = dt.datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=dt.UTC)
        memory = make_memory()
        memory.remember(
            [
                Entry("early words", happened_at=first, valid_from=first),
                Entry("late words", happened_at=last, valid_to=last),
            ]
        )
        with session_zone(zone):
            listed = {item.happened_at for item in memory.list()}
            recalled = {item.happened_at for item in memory.recall("words")}
        assert listed == recalled == {first, last}

    @pytest.mark.parametrize(
        "name", ["happened_at", "expires_at", "valid_from", "valid_to"]
    )
    @pytest.mark.parametrize(
        "given",
        [
            dt.datetime(2026, 1, 1),  # noqa: DTZ001 - naive on purpose
            dt.date(2026, 1, 1),
            "2026-01-01T00:00:00Z",
            1_767_225_600,
            dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=9))),
            dt.datetime(9999, 12, 31, 23, tzinfo=dt.timezone(-dt.timedelta(hours=9))),
            dt.datetime(1, 1, 1, 23, tzinfo=dt.UTC),
            dt.datetime(9999, 12, 31, tzinfo=dt.UTC),
        ],
        ids=[
            "naive",
            "date",
            "text",
            "number",
            "before year 1",
            "after year 9999",
            "first day of year 1",
            "last day of year 9999",
        ],
    )
    def test_any_other_is_refused_by_name(self, name, given):
        with pytest.raises(Invalid) as refused:
            make_memory().remember({"text": "words", name: given})
        assert refused.value.field == name

    def test_validity_is_never_empty(self):
        with pytest.raises(Invalid) as refused:
            make_memory().remember(
                {"text": "words", "valid_from": NOON, "valid_to": NOON}
            )
        assert refused.value.field == "valid_to"

    def test_validity_is_half_open(self):
        memory = make_memory()
        end = NOON + dt.timedelta(days=1)
        memory.remember({"text": "words", "valid_from": NOON, "valid_to": end})
        tick = dt.timedelta(microseconds=1)
        seen = {
            at: len(memory.recall("words", as_of=at))
            for at in (NOON - tick, NOON, end - tick, end)
        }
        assert list(seen.values()) == [0, 1, 1, 0]


class TestSources:
    def test_records_of_one_stream_share_a_row(self):
        memory = make_memory()
        memory.remember(
            [
                Entry(f"{i}", source=SourceRef("chat", i, "https://example.org"))
                for i in range(3)
            ]
        )
        source = Source.objects.get(tenant="acme")
        assert (source.key, source.uri) == ("chat", "https://example.org")
        assert (source.trust, source.writer) == ("user", "ada")
        assert [(i.source, i.ordinal) for i in memory.list()] == [
            ("chat", 0),
            ("chat", 1),
            ("chat", 2),
        ]

    def test_another_scope_has_its_own(self):
        """B21."""
        for scope in (make_scope(), make_scope(owner="bob")):
            remember_one(scope=scope, source=SourceRef("chat"))
        assert Source.objects.filter(tenant="acme", key="chat").count() == 2
