"""Forget: real deletes with all that is derived, or hidden for a hold."""

from __future__ import annotations

import datetime as dt
import importlib
import itertools
import uuid
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from prism_memory.errors import Conflict, Invalid, LimitExceeded, Unsupported
from prism_memory.models import AuditEvent, Record, Tombstone
from prism_memory.types import Actor, Kind, Lineage, SourceRef, TombstoneReason
from tests.factories import (
    make_edge,
    make_memory,
    make_record,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.tables import counts, holding

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-4711"


def listed(**asked: Any) -> set[str]:
    return {item.text for item in make_memory().list(**asked)}


def derived(text: str = "derived", *sources: str, **fields: Any) -> uuid.UUID:
    return remember_one(text, lineage=Lineage(sources or ("source",)), **fields)


class TestForgetting:
    def test_rows_are_gone_with_what_is_derived(self) -> None:
        """B147, case_C10: from every table, but for tombstones and the audit."""
        source = remember_one(SECRET, key="source", wait=True)
        derived(f"{SECRET} again", key="first", wait=True)
        derived("third hand", "first", wait=True)
        other = remember_one("other", wait=True)
        done = make_memory().forget(source, reason="asked")
        assert (done.deleted, done.blocked, done.kept, done.missing) == (3, 3, (), ())
        assert done.rows["prism_memory_record"] == 3
        assert done.rows["prism_memory_embedding"] == 3
        assert done.rows["prism_memory_lineageedge"] == 2
        assert {*Record.objects.values_list("id", flat=True)} == {other}
        assert not holding(SECRET)
        assert {*holding(str(source))} == {
            "prism_memory_tombstone",
            "prism_memory_auditevent",
        }

    def test_what_was_forgotten_is_nowhere_to_be_read(self) -> None:
        """B147."""
        source = remember_one(SECRET, key="source", wait=True)
        derived(f"of {SECRET}", wait=True)
        remember_one("other", wait=True)
        make_memory().forget(source)
        assert listed() == {"other"}
        found = make_memory().recall(SECRET, 32)
        assert {hit.text for hit in found.hits} <= {"other"}

    def test_the_audit_says_who_and_why_and_no_words(self) -> None:
        source = remember_one(SECRET, key="source")
        make_memory(actor=Actor("user:7")).forget([source], reason="he asked")
        event = AuditEvent.objects.get(tenant="acme", action="memory.forget")
        assert (event.actor, event.target) == ("user:7", f"record:{source}")
        assert event.reason == "he asked"
        assert event.detail == {"deleted": 1, "kept": 0, "refs": 1, "hold": False}
        stone = Tombstone.objects.get(tenant="acme")
        assert (stone.reason, stone.hold, stone.actor) == ("forgotten", False, "user:7")

    @pytest.mark.parametrize("form", ["uuid", "text", "list", "tuple", "set", "twice"])
    def test_ids_come_in_any_form(self, form: str) -> None:
        one = remember_one()
        given = {
            "uuid": one,
            "text": str(one),
            "list": [str(one)],
            "tuple": (one,),
            "set": {one},
            "twice": [one, str(one), one],
        }
        wanted: Any = given[form]
        assert make_memory().forget(wanted).deleted == 1

    @pytest.mark.parametrize("none", [[], (), set(), {}])
    @pytest.mark.parametrize("hold", [False, True])
    def test_no_ids_are_nothing(self, none: Any, hold: bool) -> None:
        """B148, case_C04."""
        remember_one()
        before = counts()
        assert make_memory().forget(none, hold=hold).deleted == 0
        assert counts() == before

    @pytest.mark.parametrize("bad", [None, 7, "all", "*", ["x"], [None], ""])
    def test_what_is_no_id_is_refused(self, bad: Any) -> None:
        """case_C04: nothing stands for everything."""
        remember_one()
        before = counts()
        with pytest.raises(Invalid) as refused:
            make_memory().forget(bad)
        assert refused.value.field == "ids"
        assert counts() == before

    @pytest.mark.parametrize(
        "beside",
        [
            {"tenant": "globex"},
            {"owner": "bob"},
            {"agent": "sales"},
            {"thread": "chat-2"},
            {"thread": ""},
            {"agent": "", "thread": ""},
        ],
        ids=str,
    )
    def test_strangers_records_are_missing_and_stay(self, beside: Any) -> None:
        """case_C02: above and beside alike; an unknown id looks the same."""
        foreign = remember_one(SECRET, scope=make_scope(**beside))
        unknown = uuid.uuid4()
        before = counts()
        for hold in (False, True):
            done = make_memory().forget([foreign, unknown], hold=hold)
            assert {*done.missing} == {foreign, unknown}
            assert (done.deleted, done.blocked) == (0, 0)
        assert counts() == before  # not even an audit

    def test_of_several_the_missing_do_not_stop_the_rest(self) -> None:
        one, foreign = remember_one(), remember_one(scope=make_scope(owner="bob"))
        done = make_memory().forget([one, foreign])
        assert (done.deleted, done.missing) == (1, (foreign,))

    def test_forgotten_again_it_is_missing(self) -> None:
        one = remember_one()
        make_memory().forget(one)
        assert make_memory().forget(one).missing == (one,)
        assert Tombstone.objects.count() == 1

    def test_a_copy_of_another_owner_stays(self) -> None:
        """case_C14."""
        mine = remember_one(SECRET, key="k")
        theirs = remember_one(SECRET, key="k", scope=make_scope(owner="bob"))
        make_memory().forget(mine)
        bob = make_memory(make_scope(owner="bob"))
        assert [item.id for item in bob.list()] == [theirs]

    def test_the_same_words_may_be_remembered_anew(self) -> None:
        """data-model, rule 4: a new record, untouched by the old tombstones."""
        old = remember_one("tea", key="k")
        make_memory().forget(old)
        new = remember_one("tea", key="k")
        assert new != old
        assert listed() == {"tea"}

    def test_a_revoked_record_is_not_held(self) -> None:
        """B153."""
        source = remember_one(SECRET, key="source")
        derived(SECRET * 2)
        make_memory().set_consent(source, visible=False)
        assert make_memory().forget(source).deleted == 2
        assert not holding(SECRET)

    def test_another_tenants_derived_records_are_no_concern(self) -> None:
        """Refs live per tenant: an edge that names another's record reaches nothing."""
        source = make_record()
        foreign = make_record(scope=make_scope(tenant="globex"))
        make_edge(foreign, source)
        assert make_memory().forget(source.id).deleted == 1
        assert Record.objects.get().tenant == "globex"
        assert not Tombstone.objects.filter(tenant="globex").exists()
        stranger = make_memory(make_scope(tenant="globex"))
        assert stranger.get(foreign.id).id == foreign.id

    def test_what_derives_below_goes_too(self) -> None:
        """What a thread made of the owner's is reached from the owner's."""
        owner = make_scope(agent="", thread="")
        source = remember_one(SECRET, key="source", scope=owner)
        derived(f"{SECRET} in a thread")
        assert make_memory(owner).forget(source).deleted == 2
        assert not holding(SECRET)

    def test_bodies_go_in_batches_of_64(self) -> None:
        """B161."""
        ids = remember(*[f"n {n}" for n in range(130)])
        sizes: list[int] = []

        def note(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
            if sql.startswith('DELETE FROM "prism_memory_record"'):
                sizes.append(len(params) - 1)
            return execute(sql, params, many, context)

        with connection.execute_wrapper(note):
            assert make_memory().forget(ids).deleted == 130
        assert sizes == [64, 64, 2]

    def test_a_reason_that_is_too_long_forgets_nothing(self) -> None:
        one = remember_one()
        before = counts()
        with pytest.raises(LimitExceeded):
            make_memory().forget(one, reason="x" * 1_001)
        assert counts() == before

    def test_a_host_may_take_it_back(self) -> None:
        one = remember_one()
        with transaction.atomic():
            make_memory().forget(one)
            transaction.set_rollback(True)
        assert make_memory().get(one).id == one


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_transaction_that_sees_the_past_is_refused(level: str) -> None:
    """It would miss what was derived since it began."""
    one = remember_one()
    memory = make_memory()
    verbs: list[Any] = [
        lambda: memory.forget(one),
        lambda: memory.forget(one, hold=True),
        memory.forget_thread,
        memory.hold,
        lambda: memory.release_forgotten(one),
    ]
    for verb in verbs:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET TRANSACTION ISOLATION LEVEL {level}")
            with pytest.raises(Unsupported):
                verb()
    assert memory.get(one).id == one


class TestHiding:
    """B152: ``forget(hold=True)``."""

    def hidden(self) -> tuple[uuid.UUID, uuid.UUID]:
        source = remember_one("source", key="source", wait=True)
        made = derived(wait=True)
        remember_one("other")
        done = make_memory().forget(source, hold=True)
        assert (done.deleted, done.blocked) == (0, 2)
        assert {*done.kept} == {source, made}
        return source, made

    def test_bodies_stay_and_nothing_shows_them(self) -> None:
        source, made = self.hidden()
        assert Record.objects.count() == 3
        assert listed() == {"other"}
        assert {h.text for h in make_memory().recall("source derived", 32).hits} <= {
            "other"
        }
        stones = Tombstone.objects.filter(tenant="acme")
        assert {s.target_ref for s in stones} == {f"record:{source}", f"record:{made}"}
        assert {(s.reason, s.hold) for s in stones} == {("legal_hold", True)}

    def test_it_stays_held_whatever_comes_after(self) -> None:
        """B154: later marks keep it, granting anew does not lift it."""
        source, made = self.hidden()
        memory = make_memory()
        assert memory.forget([source, made]).kept == tuple(sorted([source, made]))
        assert memory.forget_thread().kept == tuple(sorted([source, made]))
        memory.set_consent(source, visible=False)
        memory.set_consent(source, visible=True)
        assert Record.objects.filter(id__in=[source, made]).count() == 2
        assert listed() == set()

    def test_it_can_neither_be_overwritten_nor_corrected(self) -> None:
        """B150."""
        source, _ = self.hidden()
        with pytest.raises(Conflict):
            remember_one("other words", key="source")
        with pytest.raises(Conflict):
            make_memory().correct(source, "other words")
        assert Record.objects.get(id=source).text == "source"

    def test_what_is_derived_from_it_later_is_hidden_and_held_too(self) -> None:
        self.hidden()
        later = derived("later", "source")
        assert listed() == {"other"}
        assert make_memory().forget(later).kept == (later,)

    def test_twice_is_as_once(self) -> None:
        source, _ = self.hidden()
        stones = Tombstone.objects.count()
        make_memory().forget(source, hold=True)
        assert Tombstone.objects.count() == stones


class TestHeldParts:
    def test_a_held_root_and_what_derives_from_it_stay_as_they_were(self) -> None:
        source = remember_one("source", key="source")
        derived()
        make_memory().hold(record=source)
        done = make_memory().forget(source)
        assert (done.deleted, done.blocked, done.kept) == (0, 0, (source,))
        assert listed() == {"source", "derived"}
        assert not Tombstone.objects.exists()

    def test_what_derives_and_is_held_is_hidden_and_its_body_kept(self) -> None:
        source = remember_one("source", key="source")
        made = derived()
        derived("third", "derived")
        make_memory().hold(record=made)
        done = make_memory().forget(source)
        assert done.kept == (made,)
        assert {*Record.objects.values_list("text", flat=True)} >= {"derived"}
        assert listed() & {"source", "derived"} == set()

    def test_it_goes_once_the_hold_is_released(self) -> None:
        source = remember_one("source", key="source")
        made = derived()
        hold = make_memory().hold(record=made)
        make_memory().forget(source)
        make_memory().release(hold.id)
        assert make_memory().forget(made).deleted == 1
        assert not Record.objects.exists()


class TestManyReasons:
    def test_one_tombstone_for_each_root_and_reason(self) -> None:
        """data-model: unique by target, root and reason."""
        first, second = remember("first", "second")
        made = derived("derived", f"record:{first}", f"record:{second}")
        memory = make_memory()
        memory.hold(record=made)
        memory.set_consent(first, visible=False)
        memory.forget([first, second])
        stones = Tombstone.objects.filter(target_ref=f"record:{made}")
        assert sorted(stones.values_list("root_ref", "reason")) == sorted(
            [
                (f"record:{first}", "forgotten"),
                (f"record:{first}", "revoked"),
                (f"record:{second}", "forgotten"),
            ]
        )

    @pytest.mark.parametrize("reason", list(TombstoneReason))
    def test_one_bad_source_of_several_is_enough(self, reason: TombstoneReason) -> None:
        """B162."""
        good, bad = make_record("good"), make_record("bad")
        both = make_record("both")
        make_edge(both, good)
        make_edge(both, bad, position=1)
        hold = reason is TombstoneReason.LEGAL_HOLD
        make_tombstone(bad, reason=reason.value, hold=hold)
        assert "both" not in listed()
        assert "good" in listed()


class TestForgettingAThread:
    def test_all_that_was_said_goes(self) -> None:
        """B148, case_C10: entries, turns and notes, and the streams they came in."""
        for kind in (Kind.ENTRY, Kind.TURN, Kind.NOTE):
            remember_one(f"{SECRET} {kind}", kind=kind, source=SourceRef("chat"))
        derived(f"derived {SECRET}", "x", key="d")
        done = make_memory().forget_thread("she asked")
        assert (done.deleted, done.kept, done.missing) == (4, (), ())
        assert not Record.objects.exists()
        assert not holding(SECRET)
        assert not holding("chat") or holding("chat") == ["prism_memory_scope"]
        event = AuditEvent.objects.get(action="memory.forget_thread")
        assert (event.reason, event.detail["deleted"]) == ("she asked", 4)
        assert event.detail["sources"] == 1

    @pytest.mark.parametrize("beside", ["tenant", "owner", "agent", "thread"])
    def test_nothing_beside_it_goes(self, beside: str) -> None:
        """case_C11."""
        other = make_scope(**{beside: "other"})
        remember_one(SECRET, scope=other, source=SourceRef("chat"))
        remember_one("mine")
        make_memory().forget_thread()
        assert [item.text for item in make_memory(other).list()] == [SECRET]
        assert holding(SECRET)

    def test_documents_and_facts_of_a_thread_of_that_name_stay(self) -> None:
        """B151."""
        for kind in (Kind.CHUNK, Kind.FACT):
            make_record(kind, fields={"source": SourceRef(f"of {kind}")}, kind=kind)
        remember_one("said", source=SourceRef("of chunk", 1))
        assert make_memory().forget_thread().deleted == 1
        kinds = Record.objects.values_list("kind", "source__key")
        assert {*kinds} == {("chunk", "of chunk"), ("fact", "of fact")}

    @pytest.mark.parametrize("level", [{"thread": ""}, {"agent": "", "thread": ""}])
    def test_only_a_thread_is_a_thread(self, level: Any) -> None:
        """case_C04: a name that got lost must not mean all of the owner."""
        scope = make_scope(**level)
        remember_one("mine", scope=scope)
        before = counts()
        with pytest.raises(Exception, match="thread") as refused:
            make_memory(scope).forget_thread()
        assert refused.value.code == "scope"  # type: ignore[attr-defined]
        assert counts() == before

    def test_what_is_held_stays_with_its_stream(self) -> None:
        """B154."""
        first, _ = remember("first", "second", source=SourceRef("chat"))
        make_memory().hold(record=first)
        done = make_memory().forget_thread()
        assert (done.deleted, done.kept) == (1, (first,))
        assert make_memory().get(first).source == "chat"

    def test_a_held_source_stays_when_it_is_empty(self) -> None:
        remember("first", "second", source=SourceRef("chat"))
        source_id = Record.objects.first().source_id  # type: ignore[union-attr]
        hold = make_memory().hold(source=source_id)
        assert make_memory().forget_thread().deleted == 0
        make_memory().release(hold.id)
        assert make_memory().forget_thread().deleted == 2

    def test_a_thread_of_nothing_is_forgotten_in_vain(self) -> None:
        assert make_memory().forget_thread().deleted == 0
        assert not AuditEvent.objects.exists()

    def test_what_a_clock_that_is_ahead_wrote_goes_too(self) -> None:
        ahead = timezone.now() + dt.timedelta(minutes=4)
        make_record("a", created_at=ahead)
        make_record("b", fields={"sequence": -7})
        assert make_memory().forget_thread().deleted == 2

    @pytest.mark.parametrize("sequence", [None, -7])
    def test_what_is_first_written_meanwhile_stays(
        self, sequence: int | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        module = importlib.import_module("prism_memory.lifecycle.forget_thread")
        make_record("there", fields={"sequence": 2**40})
        real = module._forget

        def slow(**given: Any) -> Any:
            done = real(**given)
            remember_one("meanwhile", sequence=sequence)
            return done

        monkeypatch.setattr(module, "_forget", slow)
        monkeypatch.setattr(module, "BATCH", 1)
        assert make_memory().forget_thread().deleted == 1
        assert [item.text for item in make_memory().list()] == ["meanwhile"]

    def test_a_long_chain_takes_one_tombstone_each(self) -> None:
        """Not one for each pair of the chain."""
        records = [make_record(f"n {n}") for n in range(70)]
        for source, made in itertools.pairwise(records):
            make_edge(made, source)
        assert make_memory().forget_thread().deleted == 70
        assert Tombstone.objects.count() == 70


def checksum(owner: str) -> list[Any]:
    rows = Record.objects.filter(scope__owner=owner).order_by("id")
    return list(rows.values())


def test_2501_records_of_a_thread_are_forgotten_and_no_other() -> None:
    """B149, case_C10, case_C11."""
    bob = make_scope(owner="bob")
    remember(*[f"bob {n}" for n in range(20)], scope=bob, source=SourceRef("chat"))
    untouched = checksum("bob")
    texts = [f"{SECRET} {n}" for n in range(2_501)]
    for start in range(0, 2_501, 1_000):
        remember(*texts[start : start + 1_000], source=SourceRef("chat"))
    done = make_memory().forget_thread()
    assert done.deleted == done.blocked == 2_501
    assert done.rows["prism_memory_record"] == 2_501
    assert done.rows["prism_memory_embedding"] == 2_501
    assert not holding(SECRET)
    assert checksum("bob") == untouched
    assert AuditEvent.objects.count() == 40  # of 64 each
    assert [item.source for item in make_memory(bob).list(limit=1)] == ["chat"]
