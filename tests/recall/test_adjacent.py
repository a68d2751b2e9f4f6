"""The rows beside the hits, and their order: B117."""

from __future__ import annotations

import datetime as dt

import pytest

from prism_memory.models import Record
from prism_memory.recall.adjacent import adjacent
from prism_memory.types import Entry, ReadMode, SourceRef
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory, make_record, make_scope, remember, remember_one
from tests.recall.asked import beside, hit_of, items, make_reader, turns

pytestmark = pytest.mark.django_db


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

    def test_each_hit_has_the_neighbours_of_its_own_kind(self):
        """B117: one of a source, one without, in one question."""
        plain = remember("a", "b", "c")
        written = turns(0, 1, 2)
        remember("d", "e")
        assert beside(written[0], plain[0]) == ["b", "turn 1"]
        assert beside(plain[2]) == ["b", "turn 0"]  # its scope's order holds all

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
