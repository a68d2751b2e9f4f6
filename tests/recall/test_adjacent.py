"""The rows beside the hits: B117, and who does not see them."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prism_memory.db.filters import compile_filter
from prism_memory.models import Record
from prism_memory.recall.adjacent import adjacent
from prism_memory.types import Entry, Hit, Item, ReadMode, Scope, SourceRef
from tests.capture import captured, tenant_in_every_statement
from tests.factories import (
    NOON,
    make_edge,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.recall.asked import hit_of, make_reader

pytestmark = pytest.mark.django_db

YESTERDAY = NOON - dt.timedelta(days=1)


def beside(
    *hits: uuid.UUID, reach: int = 1, scope: Scope | None = None, **asked: Any
) -> list[str]:
    """Return the texts beside some records, as their reader gets them."""
    return [item.text for item in items(*hits, reach=reach, scope=scope, **asked)]


def items(
    *hits: uuid.UUID, reach: int = 1, scope: Scope | None = None, **asked: Any
) -> tuple[Item, ...]:
    reader = make_reader(scope, **asked)
    found = [hit_of(record_id, make_reader(scope)) for record_id in hits]
    return adjacent(using="default", reader=reader, hits=found, message_range=reach)


def turns(
    *ordinals: int, source: str = "chat", scope: Scope | None = None
) -> dict[int, uuid.UUID]:
    """Remember a turn at each place of a stream, in the order given."""
    entries = [Entry(f"turn {n}", source=SourceRef(source, n)) for n in ordinals]
    accepted = make_memory(scope).remember(entries).accepted
    return dict(zip(ordinals, accepted, strict=True))


class TestOrder:
    def test_a_turns_neighbours_are_those_of_its_source(self):
        """B117: by ordinal, whenever they were written, and not by difference."""
        written = turns(40, 10, 30, 20, 25)
        turns(21, 24, 26, source="other")
        assert beside(written[25]) == ["turn 30", "turn 20"]  # 30 was written before
        assert beside(written[25], reach=2) == [
            "turn 40",
            "turn 10",
            "turn 30",
            "turn 20",
        ]
        assert beside(written[10], reach=4) == [
            "turn 40",
            "turn 30",
            "turn 20",
            "turn 25",
        ]

    def test_turns_of_one_ordinal_are_ordered_by_id(self):
        entries = [Entry(f"{n}", source=SourceRef("mail")) for n in range(7)]
        ids = sorted(make_memory().remember(entries).accepted)
        texts = {record_id: hit_of(record_id).text for record_id in ids}
        found = {item.id for item in items(ids[3], reach=2)}
        assert found == {ids[1], ids[2], ids[4], ids[5]}
        assert len(texts) == 7

    def test_without_a_source_the_scopes_order_of_sequence_counts(self):
        """B117."""
        ids = remember(*(f"{n}" for n in range(9)))
        assert beside(ids[4]) == ["3", "5"]
        assert beside(ids[4], reach=4) == ["0", "1", "2", "3", "5", "6", "7", "8"]
        assert beside(ids[0], reach=2) == ["1", "2"]
        assert beside(ids[8], reach=2) == ["6", "7"]

    def test_rows_of_one_sequence_are_ordered_by_id(self):
        ids = sorted(remember(*(f"{n}" for n in range(7)), sequence=5))
        assert [item.id for item in items(ids[3], reach=2)] == [
            ids[1],
            ids[2],
            ids[4],
            ids[5],
        ]

    def test_without_a_source_another_namespace_or_scope_is_not_beside(self):
        """The levels above are in sight, and yet not in this scope's order."""
        above = make_scope(thread="")
        for namespace, scope in (("n", None), ("", above), ("n", above)):
            remember_one(f"{namespace} before", scope=scope, namespace=namespace)
        record_id = remember_one("here")
        for namespace, scope in (("n", None), ("", above), ("n", above)):
            remember_one(f"{namespace} after", scope=scope, namespace=namespace)
        assert beside(record_id, reach=4) == []

    def test_a_hit_above_has_its_neighbours_there(self):
        above = make_scope(thread="")
        ids = remember("one", "two", "three", scope=above)
        remember_one("here")
        assert beside(ids[1], reach=4) == ["one", "three"]

    def test_a_source_goes_on_through_the_levels(self):
        """Data model, rule 7: whatever level its turns are written at."""
        written = turns(0, 1, 2)
        source = Record.objects.get(tenant="acme", id=written[1]).source_id
        note = make_record(
            "said to all", scope=make_scope(thread=""), source_id=source, ordinal=1
        )
        assert beside(written[0]) == ["turn 1"]
        assert beside(written[2]) == ["said to all"]
        assert beside(note.id) == ["turn 1", "turn 2"]
        assert beside(written[2], mode=ReadMode.EXACT) == ["turn 1"]


class TestHits:
    def test_hits_are_left_out_and_rows_come_once_in_order(self):
        """B117: also where the hits stand beside each other, and come best first."""
        ids = remember(*(f"{n}" for n in range(9)))
        assert beside(ids[5], ids[2], ids[4], reach=2) == ["0", "1", "3", "6", "7"]

    def test_no_range_and_no_hits_ask_nothing(self, django_assert_num_queries):
        record_id = remember("a", "b", "c")[1]
        hit = hit_of(record_id)
        reader = make_reader()
        with django_assert_num_queries(0):
            assert (
                adjacent(using="default", reader=reader, hits=[], message_range=4) == ()
            )
            assert (
                adjacent(using="default", reader=reader, hits=[hit], message_range=0)
                == ()
            )

    def test_all_hits_cost_one_query(self, django_assert_num_queries):
        """B22, B128: and it names the tenant."""
        ids = remember(*(f"{n}" for n in range(64)))
        hits = [hit_of(record_id) for record_id in ids[::2]]
        reader = make_reader()
        with tenant_in_every_statement("acme") as seen, django_assert_num_queries(1):
            found = adjacent(using="default", reader=reader, hits=hits, message_range=4)
        assert len(found) == 32
        assert len(seen.on_tenants()) == 1

    def test_a_row_comes_as_the_item_that_get_returns(self):
        noon = dt.datetime(2026, 1, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))
        rich = Entry(
            "rich",
            key="k",
            source=SourceRef("chat", 1),
            metadata={"mood": ["calm"]},
            happened_at=noon,
            importance=0.5,
        )
        hit = Entry("hit", source=SourceRef("chat", 0))
        ids = make_memory().remember([hit, rich]).accepted
        assert items(ids[0]) == (make_memory().get(ids[1]),)


HIDDEN: dict[str, dict[str, Any]] = {
    "revoked": {"revoked_at": NOON, "visible": False},
    "quarantined": {"gate": "quarantined"},
    "expired": {"expires_at": YESTERDAY},
    "retired": {"retired_at": YESTERDAY},
    "not valid any more": {"valid_to": YESTERDAY},
    "not valid yet": {"valid_from": NOON + dt.timedelta(days=9_999)},
}


class TestVisibility:
    @pytest.mark.parametrize("columns", HIDDEN.values(), ids=HIDDEN.keys())
    @pytest.mark.parametrize("sourced", [True, False])
    def test_a_hidden_row_is_no_neighbour_and_the_next_takes_its_place(
        self, columns, sourced
    ):
        """B117, B131, B134."""
        if sourced:
            ids = [*turns(*range(9)).values()]
            texts = [f"turn {n}" for n in range(9)]
        else:
            texts = [f"{n}" for n in range(9)]
            ids = remember(*texts)
        hide = Record.objects.filter(tenant="acme", id__in=[ids[3], ids[5], ids[6]])
        assert hide.update(**columns) == 3
        assert beside(ids[4]) == [texts[2], texts[7]]
        assert beside(ids[4], reach=2) == [texts[1], texts[2], texts[7], texts[8]]

    def test_a_forgotten_row_and_one_derived_from_it_are_no_neighbours(self):
        """B117, B134."""
        ids = remember("a", "b", "c", "hit", "d")
        forgotten, derived = (
            Record.objects.get(tenant="acme", id=ids[n]) for n in (1, 2)
        )
        make_tombstone(forgotten)
        make_edge(derived, forgotten)
        assert beside(ids[3]) == ["a", "d"]

    def test_revoking_takes_it_from_beside_at_once(self):
        """B134."""
        ids = remember("a", "b", "hit")
        make_memory().set_consent(ids[1], visible=False)
        assert beside(ids[2]) == ["a"]

    def test_what_was_never_consented_to_is_no_neighbour_in_strict_mode(self):
        ids = remember("a", "b", "hit")
        Record.objects.filter(tenant="acme", id=ids[1]).update(visible=None)
        assert beside(ids[2]) == ["b"]
        assert beside(ids[2], strict=True) == ["a"]

    def test_what_narrows_the_hits_narrows_what_is_beside(self):
        entries = [Entry(f"{n}", metadata={"n": n}) for n in range(7)]
        ids = make_memory().remember(entries).accepted
        even = compile_filter({"n": {"in": [0, 2, 4, 6]}}, terms=32)
        assert beside(ids[4], where=even) == ["2", "6"]
        assert beside(ids[4], ids=[ids[4], ids[1]]) == ["1"]
        assert beside(ids[4], kinds=[]) == []

    @pytest.mark.parametrize(
        "elsewhere",
        [
            {"tenant": "globex"},
            {"owner": "bob"},
            {"agent": "sales"},
            {"thread": "chat-2"},
        ],
        ids=lambda levels: next(iter(levels)),
    )
    @pytest.mark.parametrize("sourced", [True, False])
    def test_nobody_elses_rows_are_beside_mine(self, elsewhere, sourced):
        """B4, B5, B6: the same keys, sequences and ordinals."""
        stranger = make_scope(**elsewhere)
        for scope in (stranger, make_scope()):
            source = SourceRef("chat", 1) if sourced else None
            for n in (0, 1, 2):
                place = source and SourceRef("chat", n)
                remember_one(
                    f"{n} of {scope}", key=f"{n}", scope=scope, sequence=n, source=place
                )
        (hit,) = Record.objects.filter(
            tenant="acme", scope=make_scope().id, key="1"
        ).values_list("id", flat=True)
        assert beside(hit, reach=4) == [f"0 of {make_scope()}", f"2 of {make_scope()}"]

    @pytest.mark.parametrize(
        "elsewhere",
        [{"owner": "bob"}, {"agent": "sales"}, {"thread": "chat-2"}],
        ids=lambda levels: next(iter(levels)),
    )
    def test_a_row_of_my_source_in_a_strangers_scope_is_not_beside(self, elsewhere):
        """B5: a source says what is beside, the scope who sees it."""
        written = turns(0, 2)
        source = Record.objects.get(tenant="acme", id=written[0]).source_id
        foreign = make_record(
            "secret", scope=make_scope(**elsewhere), source_id=source, ordinal=1
        )
        assert beside(written[0], reach=4) == ["turn 2"]
        assert foreign.source_id == source

    @pytest.mark.parametrize("levels", [{"tenant": "globex"}, {"owner": "bob"}])
    def test_a_hit_out_of_sight_has_nothing_beside_it(self, levels):
        """B4: whoever makes it up. Not even rows that the reader may see."""
        stranger = make_scope(**levels)
        ids = remember("a", "b", "c", scope=stranger)
        forged = hit_of(ids[1], make_reader(stranger))
        found = adjacent(
            using="default", reader=make_reader(), hits=[forged], message_range=4
        )
        assert found == ()

    def test_a_hit_hidden_meanwhile_does_not_tell_where_it_stood(self):
        ids = remember("a", "b", "c")
        hit = hit_of(ids[1])
        make_memory().set_consent(ids[1], visible=False)
        found = adjacent(
            using="default", reader=make_reader(), hits=[hit], message_range=4
        )
        assert found == ()


@dataclass(frozen=True)
class Row:
    source: str | None
    ordinal: int
    thread: str
    namespace: str
    sequence: int
    hidden: bool


rows = st.lists(
    st.builds(
        Row,
        source=st.sampled_from([None, None, "s", "t"]),
        ordinal=st.integers(0, 4),
        thread=st.sampled_from(["chat-1", "chat-1", "", "chat-2"]),
        namespace=st.sampled_from(["", "", "n"]),
        sequence=st.integers(0, 6),
        hidden=st.booleans(),
    ),
    min_size=1,
    max_size=16,
)


def naive(
    written: dict[uuid.UUID, Row], hits: Sequence[uuid.UUID], reach: int
) -> list[uuid.UUID]:
    """Rule 7 as it is written, over everything in sight."""
    sight = {
        i: row
        for i, row in written.items()
        if not row.hidden and row.thread != "chat-2"
    }
    found: set[uuid.UUID] = set()
    for hit in hits:
        mine = sight[hit]
        if mine.source:
            stream = [
                (row.ordinal, i)
                for i, row in sight.items()
                # One key names another source in each scope.
                if (row.source, row.thread) == (mine.source, mine.thread)
            ]
        else:
            stream = [
                (row.sequence, i)
                for i, row in sight.items()
                if (row.thread, row.namespace) == (mine.thread, mine.namespace)
            ]
        order = [i for _, i in sorted(stream)]
        place = order.index(hit)
        found |= {*order[max(0, place - reach) : place + reach + 1]}
    left = found - {*hits}
    return sorted(left, key=lambda i: (sight[i].sequence, i))


@given(rows=rows, reach=st.integers(0, 4), picks=st.lists(st.integers(0, 15)))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_what_is_beside_is_what_the_rule_says(
    rows: list[Row], reach: int, picks: list[int]
) -> None:
    """B117."""
    tenant = f"t-{uuid.uuid4()}"
    written = {store(tenant, row): row for row in rows}
    reader = make_reader(make_scope(tenant=tenant))
    sight = [
        i for i, row in written.items() if not row.hidden and row.thread != "chat-2"
    ]
    chosen = [*dict.fromkeys(sight[n] for n in picks if n < len(sight))]
    hits: list[Hit] = [hit_of(i, reader) for i in chosen]

    found = adjacent(using="default", reader=reader, hits=hits, message_range=reach)

    assert [item.id for item in found] == naive(written, chosen, reach)


def store(tenant: str, row: Row) -> uuid.UUID:
    scope = make_scope(tenant=tenant, thread=row.thread)
    record_id = remember_one(
        f"words {uuid.uuid4()}",  # the same words would be the same entry
        scope=scope,
        namespace=row.namespace,
        sequence=row.sequence,
        source=SourceRef(row.source, row.ordinal) if row.source else None,
    )
    if row.hidden:
        own = Record.objects.filter(tenant=tenant, id=record_id)
        own.update(gate="quarantined")
    return record_id


MANY = 20_000

BULK = """
INSERT INTO prism_memory_record
       (id, tenant, scope_id, kind, tier, namespace, partition, key, text, language,
        sha256, uses, metadata, trust, writer, consent_source, consent_scope, visible,
        gate, gate_reason, gate_markers, created_at, version, source_id, ordinal,
        sequence)
SELECT gen_random_uuid(), tenant, scope_id, kind, '', '', '', key || '-' || number,
       'words', language, sha256, 1, '{}', trust, writer, consent_source,
       consent_scope, number %% %s = 0, 'open', '', '[]', created_at, 1, source_id,
       CASE WHEN source_id IS NOT NULL THEN number END,
       CASE WHEN source_id IS NOT NULL THEN number + 100000 ELSE number END
  FROM prism_memory_record, generate_series(1, %s) AS number
 WHERE tenant = 'acme' AND key IN ('plain', 'turn')
"""


def most_rows_read(*, one_in: int) -> float:
    """Fill a scope, ask beside its middle, and return the most rows of any step.

    Args:
        one_in: One of so many rows is in sight.
    """
    remember_one("a", key="plain")
    remember_one("b", key="turn", source=SourceRef("chat"))
    with connection.cursor() as cursor:
        cursor.execute(BULK, [one_in, MANY])
        cursor.execute("ANALYZE prism_memory_record")
    middle = [f"plain-{MANY // 2}", f"turn-{MANY // 2}"]
    ids = Record.objects.filter(tenant="acme", key__in=middle)
    hits = [hit_of(i) for i in ids.values_list("id", flat=True)]
    assert len(hits) == 2
    with captured() as seen:
        found = adjacent(
            using="default", reader=make_reader(), hits=hits, message_range=4
        )
    assert len(found) == 16
    ((statement, given_),) = seen.statements
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {statement}", given_)
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "prism_memory_record_stream" in plan
    assert "prism_memory_record_order" in plan
    assert "Seq Scan on prism_memory_record" not in plan
    counted = re.findall(r"actual rows=([\d.]+) loops|Removed by Filter: (\d+)", plan)
    return max(float(number) for pair in counted for number in pair if number)


def test_a_walk_ends_at_the_rows_that_are_wanted():
    """case_C33: 20,000 rows of the scope, and as many of the source."""
    assert most_rows_read(one_in=1) <= 16  # of the answer


def test_a_walk_reads_no_further_than_past_what_is_hidden():
    """B131: of 20,000 rows each hundredth is in sight."""
    assert most_rows_read(one_in=100) <= 400
