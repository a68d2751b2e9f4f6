"""Who sees what beside a hit: nobody what is out of their sight."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from prism_memory.db.filters import compile_filter
from prism_memory.models import Record
from prism_memory.recall.adjacent import adjacent
from prism_memory.types import Entry, SourceRef
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
from tests.recall.asked import beside, hit_of, items, make_reader, turns

pytestmark = pytest.mark.django_db

YESTERDAY = NOON - dt.timedelta(days=1)

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

    def test_who_asks_for_what_the_gate_holds_back_sees_that_it_does(self):
        ids = remember("a", "b", "hit")
        own = Record.objects.filter(tenant="acme", id=ids[1])
        own.update(gate="quarantined", gate_reason="odd")
        assert beside(ids[2]) == ["a"]
        (held,) = items(ids[2], include_quarantined=True)
        assert (held.text, held.gate, held.gate_reason) == ("b", "quarantined", "odd")

    def test_what_was_not_known_at_the_moment_is_not_beside(self):
        """And what changed since says so."""
        ids = remember("a", "b", "hit", "c")
        own = Record.objects.filter(tenant="acme")
        own.update(created_at=YESTERDAY, granted_at=YESTERDAY)
        own.filter(id=ids[1]).update(created_at=NOON)
        own.filter(id=ids[3]).update(changed_at=NOON)
        moment = YESTERDAY + dt.timedelta(hours=1)
        found = items(ids[2], known_at=moment)
        assert [(item.text, item.changed) for item in found] == [
            ("a", False),
            ("c", True),
        ]
        assert not any(item.changed for item in items(ids[2]))

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
