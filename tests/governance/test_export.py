"""``Memory.export_memory``: one page of exactly one scope."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import logging
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from prism_memory.errors import Invalid, LimitExceeded, ScopeDenied
from prism_memory.governance import export
from prism_memory.memory import Memory
from prism_memory.models import AuditEvent, Record
from prism_memory.recall import cursors
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Actor,
    Consent,
    ConsentScope,
    Entry,
    Lineage,
    Scope,
    SourceRef,
    TombstoneReason,
)
from tests.factories import (
    ADA,
    NOON,
    make_edge,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.tries import examples

pytestmark = pytest.mark.django_db

HERE = make_scope()
NAMES = ["john_doe", "john-doe", "john", "johnny", "%", "a\\_b", "a.b", "A", "a"]


def pages(memory: Memory, **bounds: Any) -> Iterator[list[dict[str, Any]]]:
    cursor = None
    while True:
        page = memory.export_memory(memory.scope, cursor=cursor, **bounds)
        yield page.records
        cursor = page.next_cursor
        if cursor is None:
            return


def exported(memory: Memory | None = None, **bounds: Any) -> list[dict[str, Any]]:
    """Every record of a scope's pages, in their order."""
    return [*itertools.chain.from_iterable(pages(memory or make_memory(), **bounds))]


def texts(memory: Memory | None = None, **bounds: Any) -> list[str]:
    return [line["text"] for line in exported(memory, **bounds)]


def test_a_line_holds_all_that_it_takes_to_restore_a_record() -> None:
    """B191."""
    remember_one("Ada was born in London.", key="born")
    consent = Consent(scope=ConsentScope.PROFILE, granted_at=NOON)
    record_id = remember_one(
        "Ada moved to Porto.",
        key="moved",
        namespace="life",
        partition="p",
        metadata={"n": 1},
        consent=consent,
        sequence=2**40,
        importance=0.5,
        lineage=Lineage(("born", "message-1")),
        source=SourceRef("mail-1", 3, "imap://mail/1"),
        happened_at=NOON,
        lexical_text="Ada moved to Porto, Portugal.",
    )

    line = exported()[-1]

    stored = Record.objects.get(tenant="acme", id=record_id)
    created_at = stored.created_at.astimezone(dt.UTC).replace(tzinfo=None)
    assert line == {
        "format": "prism_memory/1",
        "id": str(record_id),
        "scope": {
            "tenant": "acme",
            "owner": "ada",
            "agent": "support",
            "thread": "chat-1",
        },
        "kind": "entry",
        "tier": "",
        "language": "english",
        "importance": 0.5,
        "uses": 1,
        "sequence": 2**40,
        "trust": "user",
        "namespace": "life",
        "partition": "p",
        "key": "moved",
        "writer": "ada",
        "text": "Ada moved to Porto.",
        "lexical_text": "Ada moved to Porto, Portugal.",
        "embed_text": None,
        "metadata": {"n": 1},
        "consent": {
            "source": "user",
            "label": "profile",
            "visible": True,
            "granted_at": "2026-01-01T12:00:00.000000Z",
        },
        "source": {"key": "mail-1", "uri": "imap://mail/1", "ordinal": 3},
        "lineage": [
            {
                "key": "born",
                "kind": "entry",
                "namespace": "",
                "partition": "",
                "level": "thread",
            },
            {"external": "message-1", "level": "thread"},
        ],
        "created_at": f"{created_at.isoformat(timespec='microseconds')}Z",
        "changed_at": None,
        "happened_at": "2026-01-01T12:00:00.000000Z",
        "expires_at": None,
        "valid_from": None,
        "valid_to": None,
    }


WITHHELD: dict[str, dict[str, Any]] = {
    "no consent": {"visible": None},
    "hidden": {"visible": False},
    "revoked": {"revoked_at": NOON},
    "quarantined": {"gate": "quarantined"},
    "retired": {"retired_at": NOON},
    "expired": {"expires_at": NOON - dt.timedelta(days=1)},
    "no longer valid": {"valid_to": NOON - dt.timedelta(days=1)},
    "not valid yet": {"valid_from": NOON.replace(year=9000)},
}


@pytest.mark.parametrize("columns", WITHHELD.values(), ids=list(WITHHELD))
def test_what_the_rule_withholds_is_not_exported(columns: dict[str, Any]) -> None:
    """B134, B135, B191, B192."""
    make_record("Withheld.", **columns)
    make_record("Shown.")
    assert texts() == ["Shown."]


def test_what_recall_shows_without_consent_is_not_exported() -> None:
    """B192."""
    record = make_record("Tea.", visible=None, consent_source="", consent_scope="")
    memory = make_memory(require_consent=False)
    assert memory.get(record.id).text == "Tea."
    assert texts(memory) == []


@pytest.mark.parametrize("reason", list(TombstoneReason))
def test_what_is_held_back_or_derives_from_it_is_not_exported(
    reason: TombstoneReason,
) -> None:
    """B152, B191."""
    source = make_record("Source.")
    make_edge(make_record("Derived."), source)
    make_record("Shown.")
    make_tombstone(source, reason=reason.value, hold=reason == "legal_hold")
    # These hide what derives from it; the record itself, only by its words or its gate.
    own = {TombstoneReason.CORRECTED, TombstoneReason.QUARANTINED}
    assert texts() == [*(["Source."] if reason in own else []), "Shown."]


def test_chunks_and_facts_of_a_corpus_are_not_exported() -> None:
    """B151: also where the scope is named as the corpus."""
    for kind in ("entry", "chunk", "turn", "note", "fact"):
        make_record(
            f"A {kind}.",
            fields={"consent": Consent(), "source": SourceRef("doc", 1)},
            kind=kind,
        )
    assert texts() == ["A entry.", "A turn.", "A note."]


@pytest.mark.parametrize(
    "stranger",
    [
        make_scope(tenant="globex"),
        make_scope(owner="ben"),
        make_scope(agent="sales"),
        make_scope(thread="chat-2"),
        make_scope(thread=""),
        make_scope(agent=""),
        make_scope(agent="", thread=""),
        Scope("acme"),
    ],
    ids=str,
)
def test_only_the_exact_scope_is_exported(stranger: Scope) -> None:
    """B191: neither what is beside it, nor what is above or below."""
    remember_one("Theirs.", scope=stranger)
    remember_one("Mine.")
    assert texts() == ["Mine."]
    assert texts(make_memory(stranger)) == ["Theirs."]
    with pytest.raises(ScopeDenied) as error:
        make_memory().export_memory(stranger)
    assert error.value.field == "identity"
    with pytest.raises(ScopeDenied):
        make_memory(stranger).export_memory(HERE)


@pytest.mark.parametrize("identity", [None, "acme", {}, ("acme", "ada"), HERE.id])
def test_an_identity_that_is_no_scope_opens_nothing(identity: Any) -> None:
    """case_C04, B191."""
    with pytest.raises(ScopeDenied):
        make_memory().export_memory(identity)


@pytest.mark.parametrize("owner", NAMES)
def test_names_are_no_patterns(owner: str) -> None:
    """case_C01, of exports."""
    for name in NAMES:
        remember_one(f"Secret of {name}.", scope=Scope("acme", name))
    assert texts(make_memory(Scope("acme", owner))) == [f"Secret of {owner}."]


def test_what_a_record_derives_from_is_named_only_where_it_is_exported_too() -> None:
    """B191: a key may say what its record may not."""
    above = remember_one("Owner's.", scope=Scope("acme", "ada"), key="above")
    hidden = make_record("Hidden.", visible=None, fields={"key": "hidden"})
    remember_one("Derived.", lineage=Lineage((f"record:{above}", "hidden")))
    (line,) = exported()
    assert line["lineage"] == [{"record": str(above)}, {"record": str(hidden.id)}]


# Redaction.


def test_secrets_that_became_known_later_leave_with_no_line() -> None:
    """B191: redacted again on the way out."""
    remember_one(
        "The code is 4711.",
        key="4711",
        metadata={"4711": ["x4711x"]},
        source=SourceRef("s4711", uri="http://x/4711"),
        lineage=Lineage(("m4711",)),
    )
    memory = make_memory(secrets=["4711"])
    page = memory.export_memory(memory.scope)
    assert len(page) == 1
    assert "4711" not in "".join(page)
    assert page.records[0]["text"] == "The code is [redacted]."


def test_the_hosts_redactor_runs_over_what_leaves() -> None:
    """B191."""
    remember_one("Ada's tea.", metadata={"a": {"b": ["Ada"]}})
    memory = make_memory(redactor=lambda text: text.replace("Ada", "A."))
    (line,) = exported(memory)
    assert (line["text"], line["metadata"]) == ("A.'s tea.", {"a": {"b": ["A."]}})


ODD = {
    "emoji": "👩‍👩‍👧‍👦 at home",
    "right to left": "שלום \u202egnaol\u202c",
    "tags": "x\U000e0041\U000e007f",
    "mark": "\ufeffbegins with a mark",
    "separators": "a\u2028b\u2029c\x85d\x0be\x1cf",
    "line ends": "a\r\nb\nc\rd",
    "quotes": '"}],"key":"other" \\ \\u0000',
    "long": "x" * 16_384,
    "blanks": "  a  ",
    "parts": "e\u0301 \u00e9",
}


@pytest.mark.parametrize("text", ODD.values(), ids=list(ODD))
def test_odd_text_is_one_line_and_comes_back_verbatim(text: str) -> None:
    """case_C21."""
    remember_one(text, metadata={"k": text, text[:50]: 1})
    memory = make_memory()
    (line,) = memory.export_memory(HERE)
    assert line.encode().count(b"\n") == 0
    found = json.loads(line)
    assert (found["text"], found["metadata"]["k"]) == (text, text)
    assert text[:50] in found["metadata"]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Lisbon", "Asia/Tokyo"])
def test_times_are_told_in_utc_whatever_the_zone(settings: Any, zone: str) -> None:
    """case_C22."""
    settings.TIME_ZONE = zone
    tokyo = dt.timezone(dt.timedelta(hours=9))
    first = dt.datetime(1, 1, 2, 12, tzinfo=tokyo)
    last = dt.datetime(9999, 12, 30, 0, tzinfo=tokyo)
    remember_one("Long ago.", valid_from=first, valid_to=last, happened_at=first)
    with timezone.override(zone):
        (line,) = exported()
    assert line["valid_from"] == line["happened_at"] == "0001-01-02T03:00:00.000000Z"
    assert line["valid_to"] == "9999-12-29T15:00:00.000000Z"


# Bounds.


def test_pages_have_the_rows_that_were_asked_for() -> None:
    """B193."""
    remember(*(f"Text {n}." for n in range(7)))
    sizes = [len(page) for page in pages(make_memory(), limit=3)]
    assert sizes == [3, 3, 1]


def test_a_page_has_a_hundred_rows_and_at_most_two_hundred() -> None:
    """B193."""
    remember(*(f"Text {n}." for n in range(201)))
    assert [len(page) for page in pages(make_memory())] == [100, 100, 1]
    assert [len(page) for page in pages(make_memory(), limit=200)] == [200, 1]
    assert [len(p) for p in pages(make_memory(limits={"export_rows": 200}))] == [200, 1]


CAPS = {"limit": 200, "max_bytes": 32 * 2**20, "max_ms": 60_000}


@pytest.mark.parametrize("name", CAPS)
@pytest.mark.parametrize("value", [0, -1, True, "5", 1.5, "over"])
def test_a_bound_out_of_its_bounds_is_refused_by_name(name: str, value: Any) -> None:
    """B193."""
    wrong: Any = CAPS[name] + 1 if value == "over" else value
    most: Any = CAPS[name]
    with pytest.raises(LimitExceeded) as error:
        make_memory().export_memory(HERE, **{name: wrong})
    assert error.value.field == name
    make_memory().export_memory(HERE, **{name: most})


def test_a_page_over_its_bytes_is_refused_and_a_smaller_one_goes_on() -> None:
    """B193."""
    remember(*(f"{n} {'é' * 1_000}" for n in range(4)))
    memory = make_memory()
    sizes = [len(line.encode()) + 1 for line in memory.export_memory(HERE)]
    first = sum(sizes[:2])
    assert len(memory.export_memory(HERE, limit=2, max_bytes=first)) == 2
    with pytest.raises(LimitExceeded, match="ask for fewer rows") as error:
        memory.export_memory(HERE, limit=2, max_bytes=first - 1)
    assert error.value.field == "max_bytes"
    assert len(exported(limit=1, max_bytes=max(sizes))) == 4


def page_by_clock(clock: Callable[[], float], rows: int = 10) -> Any:
    return export.export_page(
        using="default",
        scope=HERE,
        actor=Actor(),
        identity=HERE,
        cursor=None,
        bounds=export.Bounds(rows, bytes=10**6, seconds=10, clock=clock),
        redaction=Redaction(),
        at=NOON.replace(year=2030),
    )


def test_a_page_that_takes_too_long_is_refused_and_a_smaller_one_goes_on() -> None:
    """B193: by a clock that tells four seconds more each time it is asked."""
    remember("One.", "Two.", "Three.")

    def clock() -> Callable[[], float]:
        times = itertools.count(0, 4)
        return lambda: next(times)

    with pytest.raises(LimitExceeded, match="10000 ms; ask for fewer rows") as error:
        page_by_clock(clock())
    assert error.value.field == "max_ms"
    assert len(page_by_clock(clock(), rows=1)) == 1


def test_a_slow_statement_is_stopped() -> None:
    """B193."""
    remember_one("One.")
    memory = make_memory()
    times = itertools.chain([0.0], itertools.repeat(11.0))
    with pytest.raises(LimitExceeded, match="10000 ms"):
        page_by_clock(lambda: next(times))
    assert len(memory.export_memory(HERE)) == 1


# The cursor.


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "a" * 5_000,
        "////",
        "W10",
        "eyJhIjoxfQ",
        "bnVsbA",
        "MQ",
        "\ufeff",
        "a\0",
        None,
        5,
    ],
)
def test_a_cursor_that_is_none_is_refused(cursor: Any) -> None:
    """B195."""
    remember("One.", "Two.")
    if cursor is None:
        assert len(make_memory().export_memory(HERE, cursor=cursor)) == 2
        return
    with pytest.raises(Invalid) as error:
        make_memory().export_memory(HERE, cursor=cursor)
    assert error.value.field == "cursor"


def test_a_cursor_over_its_length_is_refused_whatever_it_holds() -> None:
    """B195."""
    padded = cursors.write("export", HERE.id.hex, 1, "0" * 32 + " " * 4_096)
    assert len(padded) > cursors.CURSOR_CHARACTERS
    with pytest.raises(Invalid):
        make_memory().export_memory(HERE, cursor=padded)


def test_a_cursor_of_another_order_or_scope_is_refused() -> None:
    """B195."""
    other = make_scope(thread="chat-2")
    for scope in (HERE, other):
        remember("One.", "Two.", scope=scope)
    memory = make_memory()
    mine = memory.export_memory(HERE, limit=1).next_cursor
    theirs = make_memory(other).export_memory(other, limit=1).next_cursor
    listed = memory.list(limit=1).next_cursor
    wide = cursors.write("export", HERE.id.hex, 2**63, "0" * 32)
    true = cursors.write("export", HERE.id.hex, *[True], "0" * 32)
    for cursor in (theirs, listed, wide, true):
        with pytest.raises(Invalid):
            memory.export_memory(HERE, cursor=cursor)
    with pytest.raises(Invalid):
        memory.list(cursor=mine)
    assert len(memory.export_memory(HERE, cursor=mine)) == 1


def test_records_are_in_the_order_of_their_sequence() -> None:
    """B194: equal ones by their id."""
    for text, sequence in (("c", 30), ("a", -5), ("b2", 7), ("b1", 7)):
        remember_one(text, sequence=sequence)
    lines = exported(limit=1)
    order = [(line["sequence"], line["id"]) for line in lines]
    assert order == sorted(order)
    assert {line["text"] for line in lines} == {"a", "b1", "b2", "c"}


def test_a_record_that_is_moved_while_pages_are_read_is_met_once() -> None:
    """B194: one behind the reader to the front, one before the reader to the back."""
    for n in range(1, 6):
        remember_one(f"Text {n}.", key=f"k{n}", sequence=n * 10)
    memory = make_memory()
    first = memory.export_memory(HERE, limit=2)
    remember_one("Text 1.", key="k1", sequence=99)
    remember_one("Text 5.", key="k5", sequence=1)
    remember_one("Text 5.", key="k5", sequence=2)
    rest = exported_after(memory, first.next_cursor)
    keys = [line["key"] for line in [*first.records, *rest]]
    assert keys == ["k1", "k2", "k3", "k4", "k5"]


def exported_after(memory: Memory, cursor: str | None) -> list[dict[str, Any]]:
    found = []
    while cursor is not None:
        page = memory.export_memory(memory.scope, cursor=cursor, limit=2)
        found += page.records
        cursor = page.next_cursor
    return found


KEYS = st.sampled_from([f"k{n}" for n in range(8)])
CHANGE = st.tuples(KEYS, st.integers(-3, 12), st.booleans())


@tried(max_examples=examples(20))
@given(
    before=st.lists(CHANGE, max_size=8, unique_by=lambda one: one[0]),
    steps=st.lists(st.lists(CHANGE, max_size=3), min_size=1, max_size=6),
    limit=st.integers(1, 3),
)
def test_a_cursor_misses_none_and_meets_none_twice(
    before: list[Any], steps: list[list[Any]], limit: int
) -> None:
    """B194: against a set of those that were there before the first page.

    Between two pages rows are added, change their words, and move.
    """
    here = make_scope(thread=str(uuid.uuid4()))
    memory = make_memory(here)

    def write(key: str, sequence: int, given: bool) -> None:
        place = sequence if given else None
        memory.remember(Entry(f"{key} {sequence}", key=key, sequence=place))

    for change in before:
        write(*change)
    was_there = {key for key, _, _ in before}
    met: list[str] = []
    cursor = None
    for changes in itertools.chain(steps, itertools.repeat([])):
        page = memory.export_memory(here, cursor=cursor, limit=limit)
        met += [line["key"] for line in page.records]
        cursor = page.next_cursor
        if cursor is None:
            break
        for change in changes:
            write(*change)
    assert len(met) == len({*met})
    assert {*met} >= was_there


def test_a_page_may_be_empty_and_have_a_cursor() -> None:
    """B194: what a cursor leads to may be withheld meanwhile; the end is told."""
    first, second = remember("One.", "Two.")
    memory = make_memory()
    cursor = memory.export_memory(HERE, limit=1).next_cursor
    memory.set_consent(second, visible=False)
    page = memory.export_memory(HERE, limit=1, cursor=cursor)
    assert (len(page), page.next_cursor) == (0, None)
    assert str(first) not in "".join(page)


def test_a_page_is_read_in_the_indexs_order_and_nothing_is_sorted() -> None:
    """B194, C33: a page deep in a large scope costs what the first one does."""
    remember(*(f"Text {n}." for n in range(5)))
    cursor = make_memory().export_memory(HERE, limit=2).next_cursor
    with CaptureQueriesContext(connection) as captured:
        make_memory().export_memory(HERE, limit=2, cursor=cursor)
    reads = [q["sql"] for q in captured if '"first_sequence" IS' in q["sql"]]
    assert len(reads) == 2
    with connection.cursor() as raw:
        raw.execute("SET LOCAL enable_seqscan TO off")
        raw.execute("SET LOCAL enable_sort TO off")
        for read, index in zip(reads, ("order", "moved"), strict=True):
            raw.execute(f"EXPLAIN {read}")
            plan = "\n".join(row for (row,) in raw.fetchall())
            assert f"Index Scan using prism_memory_record_{index}" in plan
            assert "Sort" not in plan


# The audit.


def test_each_page_is_audited_without_a_word_of_it(caplog: Any) -> None:
    remember("Ada drinks tea.", "Ada drinks milk.")
    caplog.set_level(logging.DEBUG, "prism_memory")
    memory = Memory(HERE, origin=ADA, actor=Actor("user:7"))
    memory.export_memory(HERE)
    event = AuditEvent.objects.get(tenant="acme", action="memory.export")
    assert (event.actor, event.target) == ("user:7", f"scope:{HERE.id}")
    assert event.detail == {"records": 2}
    assert "Ada" not in caplog.text


def test_a_refused_page_is_not_audited() -> None:
    remember("One.", "Two.")
    with pytest.raises(LimitExceeded):
        make_memory().export_memory(HERE, max_bytes=1)
    assert not AuditEvent.objects.filter(tenant="acme").exists()
