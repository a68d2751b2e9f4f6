"""The chain of seals, and each edit of a trail that it finds."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from prism_memory import audit, governance
from prism_memory.errors import Conflict, Invalid, Misconfigured
from prism_memory.lifecycle import create_key
from prism_memory.models import AuditEvent, AuditSeal
from prism_memory.types import Actor, Permission, Scope
from tests.capture import tenant_in_every_statement
from tests.factories import NOON, make_scope, remember_one
from tests.governance.trail import (
    GONE,
    KEYS,
    OTHER_KEYS,
    act,
    event_ids,
    heads,
    run,
    seal,
    verify,
    wrongs,
)

pytestmark = pytest.mark.django_db


def use_keys(settings: Any, keys: dict[str, str], **more: Any) -> None:
    given = {**settings.PRISM_MEMORY, "INTEGRITY_KEYS": keys, **more}
    settings.PRISM_MEMORY = given


def make_token(tenant: str) -> None:
    create_key(
        using="default",
        scope=Scope(tenant),
        actor=Actor(),
        label="k",
        permissions=[Permission.READ],
        at=NOON,
    )


def three_seals() -> None:
    for _ in range(3):
        act(3)
        seal()


class TestSealing:
    def test_seals_all_that_is_there_and_nothing_twice(self) -> None:
        act(3)
        (one,) = seal()
        assert (one.number, one.events, one.signed) == (1, 3, False)
        assert seal() == ()
        act(1)
        (two,) = seal()
        assert (two.number, two.events) == (2, 1)
        found = verify()
        assert (found.seals, found.events, found.unsealed) == (2, 4, 0)
        assert not found.findings.count

    def test_nothing_to_seal_makes_no_seal(self) -> None:
        assert seal() == ()
        assert not AuditSeal.objects.filter(tenant="acme").exists()

    def test_takes_bounded_batches(self) -> None:
        act(5)
        assert [one.events for one in seal(most=2)] == [2, 2, 1]
        assert not verify().findings.count

    def test_a_full_last_batch_makes_no_empty_seal(self) -> None:
        act(4)
        assert [one.events for one in seal(most=2)] == [2, 2]

    def test_what_commits_late_comes_under_the_next_seal(self) -> None:
        act(2)
        late = event_ids()[0]
        run(  # as if it had not been committed yet
            "UPDATE prism_memory_auditevent SET tenant = 'later' WHERE id = %(id)s",
            {"id": late},
        )
        seal()
        run(
            "UPDATE prism_memory_auditevent SET tenant = 'acme' WHERE id = %(id)s",
            {"id": late},
        )
        assert verify().unsealed == 1
        (one,) = seal()
        assert (one.number, one.events) == (2, 1)
        assert not wrongs()

    def test_tenants_and_the_installation_have_chains_of_their_own(self) -> None:
        for tenant in ("acme", "beta", ""):
            act(2, tenant=tenant)
            assert seal(tenant)[0].number == 1
        run("UPDATE prism_memory_auditevent SET reason = 'x' WHERE tenant = ''")
        assert wrongs("") == [("events_changed", "seal:1")]
        assert not wrongs("acme")
        assert not wrongs("beta")

    def test_every_statement_names_the_tenant(self) -> None:
        """B22."""
        act(3)
        with tenant_in_every_statement("acme") as seen:
            seal(content=True)
            verify(content=True)
            governance.head(using="default", tenant="acme")
            governance.prune(
                using="default",
                tenant="acme",
                older_than_days=1,
                actor=Actor(),
                at=NOON + GONE,
            )
        assert len(seen.on_tenants()) > 10

    def test_trails_are_of_all_who_may_have_one(self) -> None:
        make_token("keyed")
        remember_one(scope=make_scope(tenant="both"))
        make_token("both")
        remember_one(scope=make_scope(tenant="written"))
        trails = [*governance.trails(using="default")]
        assert trails == ["", "keyed", "both", "written"]


EDITS = {
    "the reason": "reason = 'another'",
    "the actor": "actor = 'user:2'",
    "the action": "action = 'memory.other'",
    "the target": "target = 'record:9'",
    "the detail": "detail = detail || '{\"number\": 9}'",
    "the detail's type": 'detail = detail || \'{"number": "1"}\'',
    "the time": "at = at + interval '1 microsecond'",
    "the time, to none": "at = 'infinity'",
    "the id": "id = gen_random_uuid()",
}


class TestEdits:
    @pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
    def test_an_edited_event_is_found(self, edit: str) -> None:
        three_seals()
        target = event_ids()[4]
        statement = f"UPDATE prism_memory_auditevent SET {edit} WHERE id = %(id)s"  # noqa: S608
        assert run(statement, {"id": target}) == 1
        assert wrongs() == [("events_changed", "seal:2")]

    @pytest.mark.parametrize("place", [0, 4, 8])
    def test_a_removed_event_is_found(self, place: int) -> None:
        three_seals()
        run(
            "DELETE FROM prism_memory_auditevent WHERE id = %(id)s",
            {"id": event_ids()[place]},
        )
        assert wrongs() == [("events_missing", f"seal:{place // 3 + 1}")]

    def test_an_inserted_event_is_found(self) -> None:
        three_seals()
        act(1)
        run("UPDATE prism_memory_auditevent SET seal = 2 WHERE seal IS NULL")
        assert wrongs() == [("events_added", "seal:2")]

    def test_two_events_that_changed_places_are_found(self) -> None:
        three_seals()
        one, other = event_ids()[3:5]
        swap = "UPDATE prism_memory_auditevent SET id = %(to)s WHERE id = %(from)s"
        spare = "00000000-0000-7000-8000-000000000000"
        for old, new in ((one, spare), (other, one), (spare, other)):
            run(swap, {"from": old, "to": new})
        assert wrongs() == [("events_changed", "seal:2")]

    def test_events_moved_to_another_seal_are_found(self) -> None:
        three_seals()
        one, other = event_ids()[2:4]
        run(
            "UPDATE prism_memory_auditevent SET seal = 3 - seal"
            " WHERE id IN (%(one)s, %(other)s)",
            {"one": one, "other": other},
        )
        assert wrongs() == [("events_changed", "seal:1"), ("events_changed", "seal:2")]

    def test_an_event_of_another_tenant_is_no_event_of_this_one(self) -> None:
        act(2)
        act(2, tenant="beta")
        seal()
        seal("beta")
        run("UPDATE prism_memory_auditevent SET tenant = 'acme' WHERE tenant = 'beta'")
        assert wrongs() == [("events_added", "seal:1")]
        assert wrongs("beta") == [("events_missing", "seal:1")]

    def test_what_is_not_sealed_is_not_judged_but_counted(self) -> None:
        act(2)
        run("DELETE FROM prism_memory_auditevent WHERE target = 'record:1'")
        found = verify()
        assert (found.unsealed, found.findings.count) == (1, 0)


class TestSealEdits:
    @pytest.mark.parametrize(
        "edit",
        [
            "events = 2",
            "violations = 1",
            "at = at + interval '1 second'",
            "last_at = NULL",
            "digest = sha256('x')",
            "content = sha256('x')",
            "sha256 = sha256('x')",
        ],
    )
    def test_an_edited_seal_is_found(self, edit: str) -> None:
        three_seals()
        statement = f"UPDATE prism_memory_auditseal SET {edit} WHERE number = 2"  # noqa: S608
        assert run(statement) == 1
        assert ("seal_changed", "seal:2") in wrongs()

    def test_a_removed_seal_is_found(self) -> None:
        three_seals()
        run("DELETE FROM prism_memory_auditseal WHERE number = 2")
        assert wrongs() == [
            ("events_of_no_seal", "seal:2"),
            ("seal_missing", "seal:2"),
        ]

    def test_a_run_of_removed_seals_is_one_finding(self) -> None:
        for _ in range(5):
            act(1)
            seal()
        run("DELETE FROM prism_memory_auditseal WHERE number BETWEEN 2 AND 4")
        assert ("seal_missing", "seal:2-4") in wrongs()

    def test_the_removal_of_the_last_seal_leaves_its_events_behind(self) -> None:
        three_seals()
        run("DELETE FROM prism_memory_auditseal WHERE number = 3")
        assert wrongs() == [("events_of_no_seal", "seal:3")]

    def test_seals_that_changed_numbers_are_found(self) -> None:
        three_seals()
        for old, new in ((1, 9), (2, 1), (9, 2)):
            run(
                "UPDATE prism_memory_auditseal SET number = %(to)s"
                " WHERE number = %(from)s",
                {"from": old, "to": new},
            )
        found = wrongs()
        assert ("seal_changed", "seal:1") in found
        assert ("seal_unlinked", "seal:1") in found


def rebuilt_chain(settings: Any) -> None:
    """Edit an event and make the whole chain anew, as who can write all tables may."""
    run("UPDATE prism_memory_auditevent SET reason = 'forged', seal = NULL")
    run("DELETE FROM prism_memory_auditseal")
    keys = settings.PRISM_MEMORY.get("INTEGRITY_KEYS", {})
    use_keys(settings, {})
    seal(most=3)
    use_keys(settings, keys)


class TestHeads:
    def test_a_chain_that_was_cut_short_is_found(self) -> None:
        three_seals()
        kept = heads()
        run("DELETE FROM prism_memory_auditevent WHERE seal = 3")
        run("DELETE FROM prism_memory_auditseal WHERE number = 3")
        assert not wrongs()  # by itself it is a chain
        assert wrongs(heads=kept) == [("head_missing", "seal:3")]

    def test_a_chain_that_was_set_back_and_grew_again_is_found(self) -> None:
        three_seals()
        kept = heads()
        run("DELETE FROM prism_memory_auditevent WHERE seal = 3")
        run("DELETE FROM prism_memory_auditseal WHERE number = 3")
        act(2)
        seal()
        assert not wrongs()
        assert wrongs(heads=kept) == [("head_differs", "seal:3")]

    def test_a_chain_that_was_made_anew_is_found(self, settings: Any) -> None:
        three_seals()
        kept = heads()
        rebuilt_chain(settings)
        assert not wrongs()
        assert wrongs(heads=kept) == [("head_differs", "seal:3")]

    def test_a_chain_that_is_gone_is_found(self) -> None:
        three_seals()
        kept = heads()
        run("DELETE FROM prism_memory_auditevent")
        run("DELETE FROM prism_memory_auditseal")
        assert not wrongs()
        assert wrongs(heads=kept) == [("head_missing", "seal:3")]

    def test_one_that_went_on_holds_an_old_head(self) -> None:
        act(1)
        seal()
        kept = heads()
        three_seals()
        assert not wrongs(heads=kept)

    def test_another_tenants_head_says_nothing_here(self) -> None:
        three_seals()
        act(1, tenant="beta")
        seal("beta")
        assert not wrongs("beta", heads=heads("acme"))

    @pytest.mark.parametrize(
        "line",
        [
            "",
            "{}",
            "[]",
            "1",
            "not json",
            '{"tenant": "a", "number": 0, "sha256": "' + "0" * 64 + '"}',
            '{"tenant": "a", "number": true, "sha256": "' + "0" * 64 + '"}',
            '{"tenant": "a", "number": 1, "sha256": "' + "0" * 63 + '"}',
            '{"tenant": 1, "number": 1, "sha256": "' + "0" * 64 + '"}',
            "[" * 100_000,
        ],
    )
    def test_what_is_no_head_is_refused(self, line: str) -> None:
        with pytest.raises(Invalid):
            governance.read_heads([line])


class TestSigned:
    def test_a_chain_without_the_key_is_found(self, settings: Any) -> None:
        use_keys(settings, KEYS)
        three_seals()
        assert verify().signed == 3
        assert not wrongs()
        rebuilt_chain(settings)
        assert wrongs() == [("seal_unsigned", "seal:3")]

    @pytest.mark.parametrize("number", [3, 2, 1])
    def test_an_end_that_is_gone_is_found_by_a_head_alone(
        self, settings: Any, number: int
    ) -> None:
        """With the events under it. A key does not tell how long the chain was."""
        use_keys(settings, KEYS)
        three_seals()
        kept = heads()
        given = {"number": number}
        run("DELETE FROM prism_memory_auditevent WHERE seal >= %(number)s", given)
        run("DELETE FROM prism_memory_auditseal WHERE number >= %(number)s", given)
        assert not wrongs()
        assert wrongs(heads=kept) == [("head_missing", "seal:3")]

    def test_an_old_signature_does_not_fit_another_seal(self, settings: Any) -> None:
        use_keys(settings, KEYS)
        three_seals()
        old = AuditSeal.objects.get(tenant="acme", number=3)
        rebuilt_chain(settings)
        AuditSeal.objects.filter(tenant="acme", number=3).update(
            mac=old.mac, mac_key=old.mac_key
        )
        assert ("seal_forged", "seal:3") in wrongs()

    def test_one_that_was_stripped_in_the_middle_is_found(self, settings: Any) -> None:
        use_keys(settings, KEYS)
        three_seals()
        run("UPDATE prism_memory_auditseal SET mac = NULL WHERE number = 2")
        assert wrongs() == [("seal_unsigned", "seal:2")]

    def test_a_key_that_is_not_known_here_signs_no_end(self, settings: Any) -> None:
        use_keys(settings, KEYS)
        three_seals()
        run("UPDATE prism_memory_auditseal SET mac_key = 'mine' WHERE number = 3")
        assert wrongs() == [("seal_unsigned", "seal:3")]

    def test_seals_from_before_the_key_are_covered_by_the_next(
        self, settings: Any
    ) -> None:
        three_seals()
        use_keys(settings, KEYS)
        assert wrongs() == [("seal_unsigned", "seal:3")]
        (one,) = seal()  # though there is no event: so that the end is signed
        assert (one.events, one.signed) == (0, True)
        assert seal() == ()
        assert not wrongs()
        assert verify().signed == 1

    def test_keys_rotate(self, settings: Any) -> None:
        use_keys(settings, KEYS)
        act(1)
        seal()
        use_keys(settings, OTHER_KEYS)
        act(1)
        seal()
        assert verify().signed == 2
        assert not wrongs()
        settings.PRISM_MEMORY = {
            **settings.PRISM_MEMORY,
            "INTEGRITY_KEYS": {"k2": OTHER_KEYS["k2"]},
        }
        found = verify()  # the newest is signed, and holds the ones before
        assert (found.signed, found.findings.count) == (1, 0)

    @pytest.mark.parametrize(
        "given",
        [
            {"INTEGRITY_KEYS": {"k1": "short"}},
            {"INTEGRITY_KEYS": KEYS, "INTEGRITY_KEY": "k9"},
            {"INTEGRITY_KEYS": ["k1"]},
            {"INTEGRITY_KEYS": {"k1": b"x" * 32}},
            {"INTEGRITY_KEYS": {"": "x" * 32}},
        ],
    )
    def test_keys_that_cannot_be_used_are_refused(
        self, settings: Any, given: dict[str, Any]
    ) -> None:
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **given}
        act(1)
        with pytest.raises(Misconfigured) as caught:
            seal()
        assert "short" not in str(caught.value)


def prune(days: int = 30, *, at: dt.datetime = NOON + GONE, **given: Any) -> Any:
    return governance.prune(
        using="default",
        tenant="acme",
        older_than_days=days,
        actor=Actor("user:1"),
        at=at,
        **given,
    )


class TestPrune:
    """B503."""

    def test_lets_whole_old_seals_go_and_keeps_the_chain(self) -> None:
        three_seals()
        act(2, at=NOON + GONE)
        seal()
        done = prune()
        assert (done.events, done.seals, done.through) == (9, 3, 3)
        seal(at=NOON + GONE)
        found = verify()
        assert (found.seals, found.events, found.pruned_through) == (5, 3, 3)
        assert not wrongs()

    def test_is_told_of(self) -> None:
        three_seals()
        prune(reason="a year is over")
        told = AuditEvent.objects.get(tenant="acme", action="audit.prune")
        assert (told.actor, told.reason) == ("user:1", "a year is over")
        sha256 = AuditSeal.objects.get(tenant="acme", number=3).sha256.hex()
        assert told.detail == {
            "events": 9,
            "seals": 3,
            "through": 3,
            "sha256": sha256,
            "days": 30,
        }

    def test_keeps_a_seal_with_one_young_event(self) -> None:
        act(2)
        act(1, at=NOON + GONE)
        seal()
        assert prune() == governance.Pruned()
        assert len(event_ids()) == 3

    def test_keeps_what_is_not_sealed(self) -> None:
        act(3)
        assert prune() == governance.Pruned()
        assert len(event_ids()) == 3

    def test_keeps_what_is_exactly_as_old(self) -> None:
        act(1)
        seal()
        assert not prune(days=1, at=NOON + dt.timedelta(days=1)).events
        assert prune(days=1, at=NOON + dt.timedelta(days=1, microseconds=1)).events

    def test_goes_in_batches_of_whole_seals(self) -> None:
        three_seals()
        assert prune(most=4).events == 9
        told = AuditEvent.objects.filter(tenant="acme", action="audit.prune")
        assert [e.detail["through"] for e in told.order_by("id")] == [1, 2, 3]

    def test_again_and_again_the_chain_stands(self) -> None:
        three_seals()
        prune()
        seal(at=NOON + GONE)
        prune(at=NOON + 2 * GONE)
        seal(at=NOON + 2 * GONE)
        assert not wrongs()
        actions = AuditEvent.objects.filter(tenant="acme").values_list("action")
        assert {name for (name,) in actions} == {"audit.prune"}

    def test_other_tenants_stay(self) -> None:
        act(2, tenant="beta")
        seal("beta")
        three_seals()
        prune()
        assert len(event_ids("beta")) == 2
        assert not wrongs("beta")

    @pytest.mark.parametrize("days", [0, -1, True, 1.5, "30", None, 10**9])
    def test_an_age_is_mandatory(self, days: Any) -> None:
        three_seals()
        with pytest.raises(Invalid):
            prune(days)
        assert len(event_ids()) == 9

    def test_an_edit_is_not_pruned_away(self) -> None:
        three_seals()
        run("UPDATE prism_memory_auditevent SET reason = 'x' WHERE seal = 2")
        with pytest.raises(Conflict):
            prune()
        assert len(event_ids()) == 9
        assert wrongs() == [("events_changed", "seal:2")]

    def test_a_pruning_that_nobody_told_of_is_found(self) -> None:
        three_seals()
        run("DELETE FROM prism_memory_auditevent WHERE seal = 1")
        run("UPDATE prism_memory_auditseal SET pruned_at = now() WHERE number = 1")
        assert wrongs() == [("pruned_untold", "seal:1")]

    def test_events_under_a_pruned_seal_are_found(self) -> None:
        three_seals()
        prune()
        act(1)
        run("UPDATE prism_memory_auditevent SET seal = 1 WHERE target = 'record:0'")
        assert wrongs() == [("events_added", "seal:1")]


def test_reads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of two see what pages of a thousand do."""
    monkeypatch.setattr("prism_memory.governance.pages.PAGE_ROWS", 2)
    for count in (3, 2, 1, 4):
        act(count)
        seal()
    found = verify()
    assert (found.seals, found.events, found.findings.count) == (4, 10, 0)
    run("UPDATE prism_memory_auditevent SET reason = 'x' WHERE seal = 4")
    assert wrongs() == [("events_changed", "seal:4")]


def test_events_of_one_moment_and_one_content_differ() -> None:
    """Their ids tell them apart: one cannot stand for two."""
    act(1)
    act(1)
    seal()
    first, second = event_ids()
    run("DELETE FROM prism_memory_auditevent WHERE id = %(id)s", {"id": first})
    audit.record(
        using="default",
        tenant="acme",
        actor=Actor("user:1"),
        action="memory.test",
        target="record:0",
        at=NOON,
        reason="because",
        detail={"number": 0, "of": [1]},
    )
    run("UPDATE prism_memory_auditevent SET seal = 1")
    assert second in event_ids()
    assert wrongs() == [("events_changed", "seal:1")]
