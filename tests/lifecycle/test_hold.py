"""Holds keep: whatever deletes or overwrites passes over them. They hide nothing."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from prism_memory.errors import Conflict, Invalid, LimitExceeded, NotVisible
from prism_memory.models import AuditEvent, LegalHold, Record
from prism_memory.types import Actor, HoldLevel, Scope, SourceRef
from tests.factories import make_memory, make_scope, remember_one
from tests.tables import counts

pytestmark = pytest.mark.django_db

HERE = make_scope()
CHAIN = [*HERE.chain()]
BESIDE = [
    make_scope(tenant="globex"),
    make_scope(owner="bob"),
    make_scope(agent="sales"),
    make_scope(thread="chat-2"),
]


def source_of(record_id: uuid.UUID) -> uuid.UUID:
    found = Record.objects.get(id=record_id).source_id
    assert found
    return found


def place(level: str, record_id: uuid.UUID, **given: Any) -> Any:
    at: dict[str, Any] = {
        "record": {"record": record_id},
        "source": {"source": source_of(record_id)},
        "scope": {},
    }
    return make_memory().hold(**at[level], **given)


@pytest.fixture
def record_id(db: None) -> uuid.UUID:
    return remember_one("tea", key="k", source=SourceRef("chat"))


class TestWhatItKeeps:
    @pytest.mark.parametrize("level", ["record", "source", "scope"])
    def test_deletion_passes_over_it_and_nothing_is_hidden(
        self, level: str, record_id: uuid.UUID
    ) -> None:
        """B154."""
        held = place(level, record_id)
        assert (held.level, held.new) == (HoldLevel(level), True)
        memory = make_memory()
        assert memory.forget(record_id).kept == (record_id,)
        assert memory.forget_thread().kept == (record_id,)
        assert memory.get(record_id).text == "tea"
        memory.release(held.id)
        assert memory.forget(record_id).deleted == 1

    @pytest.mark.parametrize("level", ["record", "source", "scope"])
    def test_nothing_overwrites_it(self, level: str, record_id: uuid.UUID) -> None:
        """B150."""
        held = place(level, record_id)
        with pytest.raises(Conflict):
            remember_one("coffee", key="k", source=SourceRef("chat"))
        with pytest.raises(Conflict):
            make_memory().correct(record_id, "coffee")
        assert make_memory().get(record_id).text == "tea"
        make_memory().release(held.id)
        assert remember_one("coffee", key="k", source=SourceRef("chat")) == record_id

    def test_the_same_words_may_be_remembered_again(self, record_id: uuid.UUID) -> None:
        place("record", record_id)
        assert remember_one("tea", key="k", source=SourceRef("chat")) == record_id

    @pytest.mark.parametrize("above", CHAIN, ids=lambda s: s.thread or s.owner or "all")
    def test_a_scope_is_held_with_all_below_and_what_comes(
        self, above: Scope, record_id: uuid.UUID
    ) -> None:
        make_memory(above).hold()
        later = remember_one("later")
        done = make_memory().forget([record_id, later])
        assert {*done.kept} == {record_id, later}

    @pytest.mark.parametrize("beside", BESIDE, ids=str)
    def test_a_scope_beside_it_holds_nothing_here(
        self, beside: Scope, record_id: uuid.UUID
    ) -> None:
        make_memory(beside).hold()
        assert make_memory().forget(record_id).deleted == 1

    def test_a_thread_of_no_agent_is_not_one_of_an_agent(
        self, record_id: uuid.UUID
    ) -> None:
        make_memory(make_scope(agent="")).hold()
        assert make_memory().forget(record_id).deleted == 1

    def test_names_are_names_not_patterns(self) -> None:
        """case_C01."""
        make_memory(make_scope(owner="%", agent="", thread="")).hold()
        one = remember_one()
        assert make_memory().forget(one).deleted == 1

    def test_a_hold_may_come_before_the_first_word(self) -> None:
        make_memory().hold()
        one = remember_one()
        assert make_memory().forget(one).kept == (one,)

    def test_a_revoked_record_can_be_held(self, record_id: uuid.UUID) -> None:
        make_memory().set_consent(record_id, visible=False)
        place("record", record_id)
        assert make_memory().forget(record_id).kept == (record_id,)


class TestMatters:
    def test_each_keeps_until_all_are_released(self, record_id: uuid.UUID) -> None:
        """B154."""
        first, second = (place("record", record_id, matter=m) for m in "ab")
        memory = make_memory()
        memory.release(first.id)
        assert memory.forget(record_id).kept == (record_id,)
        memory.release(second.id)
        assert memory.forget(record_id).deleted == 1

    def test_the_same_stands_once(self, record_id: uuid.UUID) -> None:
        first, again = place("record", record_id), place("record", record_id)
        assert (again.id, again.new) == (first.id, False)
        assert AuditEvent.objects.filter(action="hold.place").count() == 1

    def test_placed_again_after_its_release_it_is_another(
        self, record_id: uuid.UUID
    ) -> None:
        first = place("record", record_id)
        make_memory().release(first.id)
        assert place("record", record_id).id != first.id

    def test_one_that_cannot_be_stored_is_refused(self, record_id: uuid.UUID) -> None:
        for matter in ("a\0b", "\ud800", " ", "x" * 257, 7):
            with pytest.raises((Invalid, LimitExceeded)) as refused:
                place("record", record_id, matter=matter)
            assert refused.value.field == "matter"
        assert not LegalHold.objects.exists()


class TestPlacing:
    def test_both_ids_are_refused(self, record_id: uuid.UUID) -> None:
        with pytest.raises(Invalid):
            make_memory().hold(record=record_id, source=source_of(record_id))

    @pytest.mark.parametrize("kind", ["record", "source"])
    def test_what_is_not_here_cannot_be_held(
        self, kind: str, record_id: uuid.UUID
    ) -> None:
        """case_C02: a stranger's, an unknown one, and one of a level above alike."""
        wanted = record_id if kind == "record" else source_of(record_id)
        before = counts()
        for scope in (*BESIDE, *CHAIN[1:]):
            for one in (wanted, uuid.uuid4()):
                with pytest.raises(NotVisible):
                    make_memory(scope).hold(**{kind: one})  # type: ignore[arg-type] # of either
        assert counts() == before

    def test_the_audit_says_who_and_why(self, record_id: uuid.UUID) -> None:
        memory = make_memory(actor=Actor("user:7"))
        held = memory.hold(record=record_id, matter="case 7", reason="court")
        memory.release(held.id, "over")
        placed, released = AuditEvent.objects.order_by("id")
        assert (placed.action, placed.reason) == ("hold.place", "court")
        assert (released.action, released.reason) == ("hold.release", "over")
        for event in (placed, released):
            assert (event.actor, event.target) == ("user:7", f"record:{record_id}")
        row = LegalHold.objects.get()
        assert (row.placed_by, row.released_by) == ("user:7", "user:7")

    def test_a_reason_that_is_too_long_places_nothing(self) -> None:
        before = counts()
        with pytest.raises(LimitExceeded):
            make_memory().hold(reason="x" * 1_001)
        assert counts() == before


class TestReleasing:
    @pytest.mark.parametrize("level", ["record", "source", "scope"])
    def test_who_stands_there_or_above_may(
        self, level: str, record_id: uuid.UUID
    ) -> None:
        for scope in CHAIN:
            held = place(level, record_id)
            make_memory(scope).release(held.id)
            assert LegalHold.objects.get(id=held.id).released_at

    @pytest.mark.parametrize("level", ["record", "source", "scope"])
    @pytest.mark.parametrize("beside", BESIDE, ids=str)
    def test_who_stands_beside_may_not(
        self, level: str, beside: Scope, record_id: uuid.UUID
    ) -> None:
        held = place(level, record_id)
        before = counts()
        for hold_id in (held.id, uuid.uuid4()):
            with pytest.raises(NotVisible):
                make_memory(beside).release(hold_id)
        assert counts() == before
        assert LegalHold.objects.get().released_at is None

    def test_a_hold_above_is_not_the_threads_to_release(self) -> None:
        held = make_memory(CHAIN[-1]).hold()
        with pytest.raises(NotVisible):
            make_memory().release(held.id)

    def test_released_before_is_a_conflict(self, record_id: uuid.UUID) -> None:
        held = place("record", record_id)
        make_memory().release(held.id)
        with pytest.raises(Conflict):
            make_memory().release(held.id)

    def test_what_is_no_id_is_refused(self) -> None:
        with pytest.raises(Invalid):
            make_memory().release("all")


class TestASourceByItsKey:
    def test_its_key_holds_it(self, record_id: uuid.UUID) -> None:
        held = make_memory().hold(source="chat")
        assert held.target_ref == f"source:{source_of(record_id)}"
        assert make_memory().forget(record_id).kept == (record_id,)
        again = make_memory().hold(source=str(source_of(record_id)))
        assert (again.id, again.new) == (held.id, False)
        assert make_memory().hold(source=source_of(record_id)).id == held.id

    def test_a_key_that_looks_like_an_id_is_a_key(self, record_id: uuid.UUID) -> None:
        odd = remember_one("more", source=SourceRef(str(source_of(record_id))))
        held = make_memory().hold(source=str(source_of(record_id)))
        assert held.target_ref == f"source:{source_of(odd)}"
        held = make_memory().hold(source=source_of(record_id))
        assert held.target_ref == f"source:{source_of(record_id)}"

    @pytest.mark.parametrize("beside", [*BESIDE, *CHAIN[1:]], ids=str)
    def test_of_exactly_this_scope(self, beside: Scope, record_id: uuid.UUID) -> None:
        before = counts()
        for source in ("chat", str(source_of(record_id)), source_of(record_id), "none"):
            with pytest.raises(NotVisible):
                make_memory(beside).hold(source=source)
        assert counts() == before

    @pytest.mark.parametrize("source", ["", "\0", "a" * 300])
    def test_a_key_that_none_can_have_is_refused(self, source: str) -> None:
        with pytest.raises((Invalid, LimitExceeded)) as refused:
            make_memory().hold(source=source)
        assert refused.value.field == "source"


class TestListing:
    def test_holds_here_above_and_on_what_is_here(self, record_id: uuid.UUID) -> None:
        mine = [place(level, record_id).id for level in ("record", "source", "scope")]
        above = [make_memory(scope).hold().id for scope in CHAIN[1:]]
        for scope in BESIDE:
            other = remember_one(scope=scope)
            make_memory(scope).hold()
            make_memory(scope).hold(record=other)
        released = make_memory().hold(matter="over")
        make_memory().release(released.id)
        found = make_memory().holds()
        assert [held.id for held in found.items] == sorted(mine + above)
        where = {held.id: (held.where, held.scope) for held in found.items}
        assert where == dict.fromkeys(mine, ("here", HERE)) | {
            one: ("above", scope) for one, scope in zip(above, CHAIN[1:], strict=True)
        }
        assert found.next_cursor is None
        assert not any(held.new for held in found.items)

    @pytest.mark.parametrize("reader", CHAIN[1:], ids=str)
    def test_those_below_are_listed_and_can_be_released(
        self, reader: Scope, record_id: uuid.UUID
    ) -> None:
        """They keep what is here from its erasure."""
        levels = ("record", "source", "scope")
        below = {place(level, record_id).id for level in levels}
        own = make_memory(reader).hold().id
        for scope in BESIDE:
            if not reader.opens(scope):
                make_memory(scope).hold()
                make_memory(scope).hold(record=remember_one(scope=scope))
        items = make_memory(reader).holds().items
        assert {held.id for held in items} == {*below, own}
        assert {held.id for held in items if held.where == "below"} == below
        assert {held.scope for held in items} == {HERE, reader}
        for held in items:
            make_memory(reader).release(held.id)
        assert make_memory(reader).holds().items == ()

    @pytest.mark.usefixtures("record_id")
    def test_a_thread_learns_nothing_of_what_lies_beside_or_in_those_above(
        self,
    ) -> None:
        for scope in (*CHAIN[1:], *BESIDE):
            other = remember_one(scope=scope, source=SourceRef("other"))
            make_memory(scope).hold(record=other)
            make_memory(scope).hold(source="other")
        for scope in BESIDE:
            make_memory(scope).hold()
        assert make_memory().holds().items == ()

    def test_of_what_is_gone_the_tenant_alone_knows(self, record_id: uuid.UUID) -> None:
        held = place("record", record_id)
        LegalHold.objects.update(target_ref=f"record:{uuid.uuid4()}")
        for scope in CHAIN[:-1]:
            assert make_memory(scope).holds().items == ()
        (found,) = make_memory(CHAIN[-1]).holds().items
        assert (found.id, found.scope, found.where) == (held.id, None, "below")

    def test_pages_end_and_miss_none(self) -> None:
        """case_C34."""
        placed = [make_memory().hold(matter=str(n)).id for n in range(7)]
        found, cursor = [], None
        while True:
            page = make_memory().holds(limit=3, cursor=cursor)
            found += [held.id for held in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert found == sorted(placed)

    @pytest.mark.parametrize("cursor", ["", "x", "\0", "a" * 9_999])
    def test_a_cursor_that_is_none_is_refused(self, cursor: str) -> None:
        with pytest.raises(Invalid) as refused:
            make_memory().holds(cursor=cursor)
        assert refused.value.field == "cursor"
