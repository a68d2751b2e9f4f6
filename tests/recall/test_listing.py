"""Get and list: in sight only, to the last row, and no cursor but our own."""

from __future__ import annotations

import base64
import json
import uuid
from itertools import chain
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from prism_memory.errors import Invalid, LimitExceeded, NotVisible
from prism_memory.memory import Memory
from prism_memory.recall.listing import list_name, read_cursor, write_cursor
from prism_memory.recall.options import reader_of
from prism_memory.types import Entry, Kind, ReadMode, Tier
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory, make_record, make_scope, remember, remember_one
from tests.tries import examples

pytestmark = pytest.mark.django_db

HYPOTHESIS = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture],
}
WILD_NAMES = ["john_doe", "john-doe", "john", "johnny", "%", "a\\_b", "a.b", "A", "a"]


def pages(memory: Memory, limit: int, **narrowing: Any) -> list[list[str]]:
    """Return the texts of each page, to the last."""
    found, cursor = [], None
    while True:
        page = memory.list(limit=limit, cursor=cursor, **narrowing)
        found.append([item.text for item in page])
        cursor = page.next_cursor
        if cursor is None:
            return found


def as_cursor(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


class TestIsolation:
    def test_alice_and_bob_see_their_own(self):
        """B18, B24, case_C02."""
        alice, bob = (make_memory(make_scope(owner=name)) for name in ("alice", "bob"))
        (secret,) = alice.remember("Alice is afraid of geese.").accepted
        assert alice.get(secret).text == "Alice is afraid of geese."
        assert len(bob.list()) == 0
        with pytest.raises(NotVisible) as foreign:
            bob.get(secret)
        with pytest.raises(NotVisible) as unknown:
            bob.get(uuid.uuid4())
        assert str(foreign.value) == str(unknown.value)

    @pytest.mark.parametrize(
        "beside",
        [
            {"tenant": "globex"},
            {"owner": "bob"},
            {"agent": "sales"},
            {"thread": "chat-2"},
        ],
        ids=lambda levels: next(iter(levels)),
    )
    def test_nobody_beside_sees_it(self, beside):
        """B4, B5, B6, B18."""
        record_id = remember_one()
        memory = make_memory(make_scope(**beside))
        assert len(memory.list()) == 0
        with pytest.raises(NotVisible):
            memory.get(record_id)

    def test_one_below_sees_it_and_one_above_does_not(self):
        """B17, B20."""
        levels = list(make_scope().chain())
        for number, scope in enumerate(levels):
            remember_one(f"level {number}", scope=scope)
        for number, scope in enumerate(levels):
            texts = [item.text for item in make_memory(scope).list()]
            assert texts == [f"level {n}" for n in range(number, len(levels))]
            exact = make_memory(scope, read=ReadMode.EXACT)
            assert [item.text for item in exact.list()] == [f"level {number}"]

    def test_names_are_no_patterns(self):
        """case_C01."""
        for name in WILD_NAMES:
            remember_one(f"secret of {name}", scope=make_scope(owner=name))
        for name in WILD_NAMES:
            memory = make_memory(make_scope(owner=name))
            assert [item.text for item in memory.list()] == [f"secret of {name}"]

    def test_every_statement_names_the_tenant(self):
        """B22."""
        record_id = remember_one()
        with tenant_in_every_statement("acme") as seen:
            make_memory().get(record_id)
            make_memory().list(limit=1)
        assert len(seen.on_tenants()) == 2

    @pytest.mark.parametrize("record_id", ["nonsense", "", 5, None, "a\0"])
    def test_what_is_no_id_is_refused(self, record_id):
        with pytest.raises(Invalid):
            make_memory().get(record_id)

    def test_an_id_may_be_text(self):
        record_id = remember_one()
        assert make_memory().get(str(record_id)).id == record_id


class TestNarrowing:
    def memory(self) -> Memory:
        memory = make_memory()
        memory.remember(
            [
                Entry("plain"),
                Entry("note", kind=Kind.NOTE, namespace="n", metadata={"n": 10}),
                Entry("turn", kind=Kind.TURN, partition="p", metadata={"n": 9}),
                Entry("episode", tier=Tier.EPISODIC, namespace="n", partition="p"),
            ]
        )
        return memory

    @pytest.mark.parametrize(
        ("narrowing", "texts"),
        [
            ({}, ["plain", "note", "turn", "episode"]),
            ({"kinds": [Kind.NOTE, Kind.TURN]}, ["note", "turn"]),
            ({"kinds": {"note"}}, ["note"]),
            ({"tiers": [Tier.EPISODIC]}, ["episode"]),
            ({"tiers": [Tier.NONE]}, ["plain", "note", "turn"]),
            ({"namespaces": ["n"]}, ["note", "episode"]),
            ({"namespaces": [""]}, ["plain", "turn"]),
            ({"partition": "p"}, ["turn", "episode"]),
            ({"partition": ""}, ["plain", "note"]),
            ({"namespaces": ["n"], "partition": "p"}, ["episode"]),
            ({"filter": {"n": {"gt": 9}}}, ["note"]),
            ({"kinds": []}, []),
            ({"tiers": ()}, []),
            ({"namespaces": frozenset()}, []),
        ],
    )
    def test_each_narrows_and_empty_lets_nothing_through(self, narrowing, texts):
        """case_C04."""
        memory = self.memory()
        assert [item.text for item in memory.list(**narrowing)] == texts
        assert [*chain(*pages(memory, 1, **narrowing))] == texts
        recalled = memory.recall("plain note turn episode", 32, **narrowing)
        assert sorted(hit.text for hit in recalled) == sorted(texts)

    @pytest.mark.parametrize(
        ("narrowing", "field"),
        [
            ({"kinds": ["poem"]}, "kinds"),
            ({"kinds": "note"}, "kinds"),
            ({"kinds": 5}, "kinds"),
            ({"tiers": ["cellar"]}, "tiers"),
            ({"namespaces": "n"}, "namespaces"),
            ({"namespaces": ["a\0"]}, "namespaces"),
            ({"namespaces": ["\ud800"]}, "namespaces"),
            ({"namespaces": [5]}, "namespaces"),
            ({"partition": "a\0"}, "partition"),
            ({"partition": 5}, "partition"),
        ],
    )
    def test_what_cannot_narrow_is_refused_by_name(self, narrowing, field):
        """case_C21."""
        memory = make_memory()
        for read in (memory.list, lambda **given: memory.recall("words", **given)):
            with pytest.raises(Invalid) as refused:
                read(**narrowing)
            assert refused.value.field == field

    @pytest.mark.parametrize("ids", [["nonsense"], [5], "nonsense", [None]])
    def test_recall_refuses_what_is_no_id(self, ids):
        with pytest.raises(Invalid) as refused:
            make_memory().recall("words", ids=ids)
        assert refused.value.field == "ids"

    def test_recall_of_no_ids_finds_nothing(self):
        """case_C04."""
        remember_one("words")
        assert len(make_memory().recall("words", ids=[])) == 0

    @pytest.mark.parametrize("limit", [0, -1, 201, 1.5, True])
    def test_a_page_outside_its_bounds_is_refused(self, limit):
        with pytest.raises(LimitExceeded) as refused:
            make_memory().list(limit=limit)
        assert refused.value.field == "limit"


class TestPages:
    """case_C34: lists end, at the last row."""

    @pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8])
    def test_each_row_is_on_one_page_and_the_last_has_no_next(self, limit):
        texts = [f"text {i}" for i in range(7)]
        remember(*texts)
        found = pages(make_memory(), limit)
        assert [*chain(*found)] == texts
        assert all(len(page) == limit for page in found[:-1])
        assert found[-1]

    def test_rows_of_one_sequence_are_told_apart_by_id(self):
        remember(*(f"{i}" for i in range(9)), sequence=5)
        found = [*chain(*pages(make_memory(), 2))]
        assert sorted(found) == [f"{i}" for i in range(9)]

    def test_the_page_is_full_however_many_rows_are_hidden(self):
        """B131."""
        for number in range(20):
            make_record(f"{number}", gate="quarantined" if number % 4 else "open")
        assert pages(make_memory(), 2) == [["0", "4"], ["8", "12"], ["16"]]

    def test_an_empty_scope_has_one_empty_page(self):
        page = make_memory().list()
        assert (len(page), page.next_cursor) == (0, None)

    def test_one_query(self, django_assert_num_queries):
        remember(*(f"{i}" for i in range(50)))
        with django_assert_num_queries(1):
            make_memory().list(limit=40)

    @given(
        before=st.integers(0, 30),
        sizes=st.lists(st.integers(1, 7), min_size=1, max_size=8),
        inserts=st.lists(st.integers(0, 5), max_size=12),
    )
    @settings(max_examples=examples(12), **HYPOTHESIS)  # type: ignore[arg-type]
    def test_rows_of_before_come_once_while_others_are_added(
        self, before, sizes, inserts
    ):
        memory = make_memory(make_scope(tenant=f"t-{uuid.uuid4()}"))
        old = [f"old {i}" for i in range(before)]
        memory.remember(old)
        seen: list[str] = []
        cursor, number = None, 0
        while cursor is not None or number == 0:
            page = memory.list(limit=sizes[number % len(sizes)], cursor=cursor)
            seen.extend(item.text for item in page)
            cursor = page.next_cursor
            new = inserts[number] if number < len(inserts) else 0
            memory.remember([f"new {number}-{i}" for i in range(new)])
            number += 1
        assert [text for text in seen if text.startswith("old")] == old
        assert len(seen) == len(set(seen))


BOB = make_scope(owner="bob")


def ours():
    """What the cursors of a plain list are of."""
    return list_name(reader_of(make_memory()._asker(), {}))


class TestCursor:
    @pytest.mark.parametrize(
        ("memory", "narrowed"),
        [
            (lambda: make_memory(), {}),
            (lambda: make_memory(make_scope(tenant="other", owner="bob")), {}),
            (lambda: make_memory(BOB, read="exact"), {}),
            (lambda: make_memory(BOB, require_consent=True), {}),
            (lambda: make_memory(BOB), {"kinds": ["entry"]}),
            (lambda: make_memory(BOB), {"tags": []}),
            (lambda: make_memory(BOB), {"filter": {"n": 1}}),
        ],
        ids=["owner", "tenant", "mode", "consent", "kinds", "tags", "filter"],
    )
    def test_a_cursor_of_another_list_is_refused(self, memory, narrowed):
        remember("a", "b", "c", scope=BOB)
        cursor = make_memory(BOB).list(limit=1).next_cursor
        with pytest.raises(Invalid) as refused:
            memory().list(cursor=cursor, **narrowed)
        assert refused.value.field == "cursor"
        assert len(make_memory(BOB).list(cursor=cursor)) == 2

    def test_another_value_makes_another_list_and_another_order_does_not(self):
        remember("a", "b", scope=BOB, namespace="n")
        memory = make_memory(BOB)
        cursor = memory.list(limit=1, namespaces=["n", "m"]).next_cursor
        assert len(memory.list(cursor=cursor, namespaces={"m", "n"})) == 1
        with pytest.raises(Invalid):
            memory.list(cursor=cursor, namespaces=["n"])

    def test_a_cursor_tells_no_more_than_a_place(self):
        remember("a", "b")
        page = make_memory().list(limit=1)
        assert page.next_cursor is not None
        found = read_cursor(page.next_cursor, ours())
        assert found == (page[0].sequence, page[0].id)
        assert write_cursor(page[0], ours()) == page.next_cursor

    @given(st.text(max_size=60) | st.binary(max_size=40).map(as_cursor))
    @example("")
    @example("=")
    @example("a")
    @example("\0")
    @example("\ud800")
    @example("é" * 8)
    @example("A" * 100_000)
    @example(as_cursor(b"[" * 3_000))
    @example(as_cursor(b'["sequence", 1, "' + b"f" * 32 + b'", 2]'))
    @example(as_cursor(b'["created_at", 1, "' + b"f" * 32 + b'"]'))
    @example(as_cursor(b'["sequence", 1.5, "' + b"f" * 32 + b'"]'))
    @example(as_cursor(b'["sequence", true, "' + b"f" * 32 + b'"]'))
    @example(as_cursor(b'["sequence", NaN, "' + b"f" * 32 + b'"]'))
    @example(as_cursor(b'["sequence", 9' + b"9" * 3_000 + b', "' + b"f" * 32 + b'"]'))
    @example(as_cursor(b'["sequence", 1, null]'))
    @example(as_cursor(b'["sequence", 1, 5]'))
    @example(as_cursor(b'["sequence", 1, ["x"]]'))
    @example(as_cursor(b'{"sequence": 1, "b": 2, "c": 3}'))
    @settings(max_examples=examples(80), **HYPOTHESIS)  # type: ignore[arg-type]
    def test_any_other_is_refused_and_nothing_else_happens(self, cursor):
        with pytest.raises(Invalid) as refused:
            make_memory().list(cursor=cursor)
        assert refused.value.field == "cursor"
        with pytest.raises(Invalid):
            read_cursor(cursor, "sequence")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    @settings(max_examples=examples(50), **HYPOTHESIS)  # type: ignore[arg-type]
    def test_any_json_is_refused(self, value):
        text = as_cursor(json.dumps(value).encode())
        with pytest.raises(Invalid):
            read_cursor(text, "sequence")

    @given(st.integers(-(2**63), 2**63 - 1), st.uuids())
    @settings(max_examples=examples(30), **HYPOTHESIS)  # type: ignore[arg-type]
    def test_a_made_up_place_is_a_place_and_no_error(self, sequence, record_id):
        text = as_cursor(json.dumps([ours(), sequence, record_id.hex]).encode())
        assert len(make_memory().list(cursor=text)) == 0

    @pytest.mark.parametrize("cursor", [5, b"bytes", ["a"]])
    def test_what_is_no_text_is_refused(self, cursor):
        with pytest.raises(Invalid) as refused:
            make_memory().list(cursor=cursor)
        assert refused.value.field == "cursor"
