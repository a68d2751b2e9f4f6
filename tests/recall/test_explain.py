"""Why a hit is where it is: B129, B133, B383."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import uuid
from typing import Any

import pytest

from prism_memory.models import Embedding, Record
from prism_memory.recall.explain import explain
from prism_memory.types import (
    Entry,
    Explanation,
    Hit,
    Kind,
    Lineage,
    Origin,
    Scope,
    TombstoneReason,
    Trust,
)
from tests.capture import tenant_in_every_statement
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

WEIGHTS = {"vector": 0.75, "text": 0.25}


def explained(
    *hits: Hit, scope: Scope | None = None, **asked: Any
) -> tuple[Explanation, ...]:
    given: dict[str, Any] = {"weights": WEIGHTS, "strategy": "exact"}
    reader = make_reader(scope)
    return explain(using="default", reader=reader, hits=hits, **{**given, **asked})


def explained_one(record_id: uuid.UUID) -> Explanation:
    (found,) = explained(hit_of(record_id))
    return found


def record(record_id: uuid.UUID) -> Record:
    return Record.objects.get(tenant="acme", id=record_id)


class TestRanking:
    def test_each_hit_is_explained_in_its_order(self):
        """B129, B383: rank, score, method, and each leg's rank, measure and weight."""
        one, two = remember("one", "two")
        best = hit_of(
            two,
            score=0.75,
            method="hybrid",
            ranks={"vector": 2, "text": 1},
            signals={"vector": 0.5, "bm25": 2.5, "recency": 0.5, "importance": 1.0},
        )
        next_best = hit_of(
            one,
            score=0.25,
            method="vector",
            ranks={"vector": 1},
            signals={"vector": -0.5},
        )
        first, second = explained(best, next_best)
        assert (first.id, first.rank, first.score, first.method) == (
            two,
            1,
            0.75,
            "hybrid",
        )
        assert first.ranks == {"vector": 2, "text": 1}
        assert first.signals == best.signals
        assert (first.weights, first.strategy) == (WEIGHTS, "exact")
        assert first.components == {"recency": 0.5, "importance": 1.0}
        assert (second.id, second.rank, second.score, second.method) == (
            one,
            2,
            0.25,
            "vector",
        )
        assert second.ranks == {"vector": 1}
        assert second.signals == {"vector": -0.5}
        assert second.components == {}

    def test_what_recall_found_can_be_explained(self):
        """B129."""
        remember("Ada drinks tea", "The train leaves at noon", wait=True)
        found = make_memory().recall("when does the train leave?")
        told = explained(*found, strategy=found.strategy)
        assert [(e.id, e.rank) for e in told] == [
            (hit.id, rank) for rank, hit in enumerate(found, start=1)
        ]
        assert told[0].ranks == {"vector": 1, "text": 1}

    def test_no_hits_ask_nothing(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert explained() == ()

    def test_all_hits_cost_one_query(self, django_assert_num_queries):
        """B22, B128: and it names the tenant."""
        hits = [hit_of(i) for i in remember(*(f"{n}" for n in range(32)))]
        with tenant_in_every_statement("acme") as seen, django_assert_num_queries(1):
            assert len(explained(*hits)) == 32
        assert len(seen.on_tenants()) == 1


class TestOrigin:
    def test_a_hit_says_when_and_where_it_was_written(self):
        """B129."""
        above = make_scope(thread="")
        told = explained_one(remember_one(scope=above))
        assert told.scope == above
        assert told.created_at == hit_of(told.id).created_at
        assert told.created_at.utcoffset() == dt.timedelta(0)

    def test_what_is_derived_names_its_sources_in_order(self):
        """B129: also what lies outside."""
        source = remember_one("source", key="z")
        note = Entry(
            "note",
            kind=Kind.NOTE,
            lineage=Lineage(("z", "message-1", "message-0")),
            origin=Origin(Trust.CONSOLIDATOR, "nightly"),
        )
        (derived,) = make_memory().remember(note).accepted
        told = explained_one(derived)
        assert told.source_refs == (
            f"record:{source}",
            f"ext:{make_scope().id}:message-1",
            f"ext:{make_scope().id}:message-0",
        )
        assert told.lineage_reason == "note by consolidator"

    def test_what_is_derived_from_nothing_has_no_sources_and_no_reason(self):
        told = explained_one(remember_one())
        assert (told.source_refs, told.lineage_reason) == ((), "")

    def test_a_correction_does_not_hide_a_record_and_is_told(self):
        """B129."""
        corrected = make_record()
        make_tombstone(corrected, reason="corrected", at=NOON)
        told = explained_one(corrected.id)
        assert told.tombstone == (TombstoneReason.CORRECTED, NOON)

    def test_the_latest_correction_is_told(self):
        corrected = make_record()
        for days, lifted in ((1, NOON), (3, None), (2, NOON)):
            moment = NOON + dt.timedelta(days=days)
            stone = {"reason": "corrected", "at": moment, "cleared_at": lifted}
            make_tombstone(corrected, **stone)
        told = explained_one(corrected.id)
        assert told.tombstone == (
            TombstoneReason.CORRECTED,
            NOON + dt.timedelta(days=3),
        )

    def test_a_lifted_tombstone_is_not_told(self):
        record = make_record()
        make_tombstone(record, reason="corrected", cleared_at=NOON)
        assert explained_one(record.id).tombstone is None


class TestVisibility:
    @pytest.mark.parametrize(
        "columns",
        [
            {"visible": False, "revoked_at": NOON},
            {"gate": "quarantined"},
            {"expires_at": NOON - dt.timedelta(days=1)},
        ],
        ids=lambda columns: next(iter(columns)),
    )
    def test_a_hit_hidden_meanwhile_is_left_out_and_the_others_keep_their_rank(
        self, columns
    ):
        """B129: one for each visible hit."""
        hits = [hit_of(i) for i in remember("one", "two", "three")]
        Record.objects.filter(tenant="acme", id=hits[1].id).update(**columns)
        assert [(e.id, e.rank) for e in explained(*hits)] == [
            (hits[0].id, 1),
            (hits[2].id, 3),
        ]

    @pytest.mark.parametrize("reason", ["forgotten", "revoked", "expired"])
    def test_a_hit_that_a_tombstone_hides_is_left_out(self, reason):
        """B129: of a record or of what it is derived from."""
        source, derived = (record(i) for i in remember("source", "derived"))
        make_edge(derived, source)
        hits = [hit_of(source.id), hit_of(derived.id)]
        assert len(explained(*hits)) == 2
        make_tombstone(source, reason=reason)
        assert explained(*hits) == ()

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
    def test_a_strangers_hit_is_not_explained(self, elsewhere):
        """B4, B5, B6, B129: whoever makes it up."""
        stranger = make_scope(**elsewhere)
        secret = remember_one(scope=stranger)
        forged = hit_of(secret, make_reader(stranger))
        assert len(explained(forged, scope=stranger)) == 1
        assert explained(forged) == ()

    def test_another_tenants_lineage_and_tombstones_are_not_mixed_in(self):
        """B4: were two ids equal, the tenant would still part them."""
        mine = make_record()
        foreign = make_record(scope=make_scope(tenant="globex"))
        Embedding.objects.filter(tenant="globex").delete()
        Record.objects.filter(tenant="globex", id=foreign.id).update(id=mine.id)
        foreign = Record.objects.get(tenant="globex", id=mine.id)
        make_edge(foreign, f"ext:{uuid.uuid4()}:secret")
        make_tombstone(foreign, reason="corrected")
        told = explained_one(mine.id)
        assert (told.source_refs, told.tombstone) == ((), None)


def test_an_explanation_holds_no_words_but_names():
    """B129, B133: neither the text, nor the metadata, nor those of a source."""
    source = remember_one("hush source", metadata={"hush": "hush"})
    derived = Entry(
        "hush derived",
        metadata={"hush": "hush"},
        lineage=Lineage((f"record:{source}",)),
    )
    (record_id,) = make_memory().remember(derived).accepted
    (told,) = explained(hit_of(record_id, cosine=0.5))
    assert "hush" not in json.dumps(dataclasses.asdict(told), default=str)
