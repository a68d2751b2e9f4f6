"""A seal without events is believed to be pruned only where the audit bears it out."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest

from prism_memory import governance
from prism_memory.errors import Conflict
from prism_memory.models import AuditEvent, AuditSeal
from prism_memory.types import Actor
from tests.factories import NOON, remember_one
from tests.governance.test_seals import prune, three_seals, use_keys
from tests.governance.trail import (
    GONE,
    KEYS,
    OTHER_KEYS,
    act,
    heads,
    run,
    seal,
    verify,
    wrongs,
)

pytestmark = pytest.mark.django_db

UNTOLD = "pruned_untold"


def take_away(number: int) -> None:
    """Delete what is under a seal, and mark it as pruned."""
    given = {"number": number}
    run("DELETE FROM prism_memory_auditevent WHERE seal = %(number)s", given)
    run(
        "UPDATE prism_memory_auditseal SET pruned_at = now() WHERE number = %(number)s",
        given,
    )


def told(number: int, **changes: Any) -> dict[str, Any]:
    """Return what the app would say of a pruning up to a seal, without a key."""
    sha256 = AuditSeal.objects.get(tenant="acme", number=number).sha256.hex()
    return {"through": number, "sha256": sha256, "days": 30, **changes}


def tell(detail: object, at: dt.datetime = NOON + GONE) -> None:
    """Write an event of a pruning, as somebody would who does not use the app."""
    run(
        "INSERT INTO prism_memory_auditevent (id, tenant, actor, action, target,"
        " reason, detail, at) VALUES (gen_random_uuid(), 'acme', 'user:1',"
        " 'audit.prune', 'audit', '', %(detail)s, %(at)s)",
        {"detail": json.dumps(detail), "at": at},
    )


class TestForged:
    @pytest.mark.parametrize("keys", [{}, KEYS], ids=["without keys", "with keys"])
    def test_a_seal_in_the_middle_cannot_be_emptied(
        self, settings: Any, keys: dict[str, str]
    ) -> None:
        use_keys(settings, keys)
        three_seals()
        take_away(2)
        for detail in ({"through": 999}, {"through": 2}, told(2), told(3)):
            tell(detail)
        assert wrongs(heads=heads()) == [(UNTOLD, "seal:2")]
        seal()
        assert wrongs(heads=heads()) == [(UNTOLD, "seal:2")]

    @pytest.mark.parametrize(
        "changes",
        [
            {"through": 2},
            {"through": True},
            {"through": 0},
            {"through": 2**70},
            {"through": "1"},
            {"sha256": "0" * 64},
            {"sha256": None},
            {"days": None},
            {"days": 0},
            {"days": -1},
            {"days": 2**62},
            {"days": 400},
        ],
    )
    def test_the_event_names_seal_hash_and_age(self, changes: dict[str, Any]) -> None:
        three_seals()
        take_away(1)
        tell({**told(1), **changes})
        assert (UNTOLD, "seal:1") in wrongs()
        tell(told(1))
        assert not wrongs()

    @pytest.mark.parametrize("detail", [[], 1, None, "x", {}])
    def test_an_event_of_another_form_tells_nothing(self, detail: object) -> None:
        three_seals()
        take_away(1)
        tell(detail)
        assert wrongs() == [(UNTOLD, "seal:1")]

    def test_what_was_young_when_it_was_told_is_not_believed(self) -> None:
        act(1)
        seal()
        take_away(1)
        day = dt.timedelta(days=1)
        tell(told(1, days=1), at=NOON + day)
        assert wrongs() == [(UNTOLD, "seal:1")]
        tell(told(1, days=1), at=NOON + day + dt.timedelta(microseconds=1))
        assert not wrongs()

    def test_with_keys_the_event_must_be_signed(self, settings: Any) -> None:
        use_keys(settings, KEYS)
        three_seals()
        take_away(1)
        tell(told(1))
        for mac in ("00" * 32, "no hex", 1, None):
            tell(told(1, mac=mac, mac_key="k1"))
        tell(told(1, mac="00" * 32, mac_key=["k1"]))
        assert wrongs() == [(UNTOLD, "seal:1")]

    @pytest.mark.parametrize(
        "change",
        [
            "detail = detail || '{\"days\": 31}'",
            "at = at + interval '1 second'",
            "tenant = 'beta'",
        ],
    )
    def test_a_signature_is_of_one_pruning(self, settings: Any, change: str) -> None:
        use_keys(settings, KEYS)
        three_seals()
        prune()
        assert not wrongs()
        run(
            f"UPDATE prism_memory_auditevent SET {change}"  # noqa: S608
            " WHERE action = 'audit.prune'"
        )
        assert [wrong for wrong, _ in wrongs()] == [UNTOLD] * 3

    def test_another_pruning_does_not_cover_what_was_taken(self) -> None:
        """Else the app itself would sign for it."""
        three_seals()
        take_away(2)
        with pytest.raises(Conflict):
            prune()
        tell(told(2))
        with pytest.raises(Conflict):
            prune()  # seal 1 has its events still
        take_away(1)
        assert prune().through == 3
        assert not wrongs()

    def test_nor_what_was_taken_from_the_start(self) -> None:
        three_seals()
        take_away(1)
        with pytest.raises(Conflict):
            prune()
        assert wrongs() == [(UNTOLD, "seal:1")]


def sign(**given: Any) -> None:
    governance.sign_records(
        using="default",
        tenant="acme",
        actor=Actor("user:1"),
        now=lambda: NOON + 2 * GONE,
        **given,
    )


class TestKeys:
    def test_what_was_pruned_before_the_key_is_signed_with_the_rest(
        self, settings: Any
    ) -> None:
        three_seals()
        prune()
        seal()
        use_keys(settings, KEYS)
        seal()
        assert {wrong for wrong, _ in wrongs()} == {UNTOLD}
        with pytest.raises(Conflict):
            prune()
        sign()
        seal()
        assert not wrongs()
        assert prune(at=NOON + 3 * GONE).events

    def test_once_signed_none_without_a_signature_is_taken_up(
        self, settings: Any
    ) -> None:
        use_keys(settings, KEYS)
        three_seals()
        prune()
        act(1)
        seal()
        take_away(4)
        tell(told(4))
        sign()
        assert (UNTOLD, "seal:4") in wrongs()

    @pytest.mark.parametrize("tenant", ["acme", ""])
    def test_keys_rotate_as_documented(self, settings: Any, tenant: str) -> None:
        """New key first; sign --rotate; seal; the old one out."""
        use_keys(settings, KEYS)
        if tenant:
            remember_one()
        act(2, tenant=tenant)
        seal(tenant)
        given: dict[str, Any] = {
            "using": "default",
            "tenant": tenant,
            "actor": Actor("user:1"),
        }
        at = NOON + GONE
        assert governance.prune(**given, older_than_days=30, at=at).events
        seal(tenant, content=bool(tenant), at=at)
        use_keys(settings, OTHER_KEYS)
        if tenant:
            sign(rotate=True)
        governance.tell_again(**given, at=at)
        seal(tenant, content=bool(tenant), at=at)
        use_keys(settings, {"k2": OTHER_KEYS["k2"]})
        assert not wrongs(tenant, content=bool(tenant))
        told = AuditEvent.objects.filter(tenant=tenant, action="audit.prune")
        assert told.count() == 2

    def test_the_end_is_signed_by_the_new_key_though_nothing_is_new(
        self, settings: Any
    ) -> None:
        use_keys(settings, KEYS)
        three_seals()
        use_keys(settings, OTHER_KEYS)
        (one,) = seal()
        assert (one.events, one.signed) == (0, True)
        assert seal() == ()
        use_keys(settings, {"k2": OTHER_KEYS["k2"]})
        assert not wrongs()
        assert verify().signed == 1

    def test_a_forged_end_is_not_sealed_over(self, settings: Any) -> None:
        use_keys(settings, KEYS)
        three_seals()
        run("UPDATE prism_memory_auditseal SET mac = sha256('x') WHERE number = 3")
        use_keys(settings, OTHER_KEYS)
        assert seal() == ()
        assert ("seal_forged", "seal:3") in wrongs()

    def test_there_is_nothing_to_tell_without_a_key_or_a_pruning(
        self, settings: Any
    ) -> None:
        given: dict[str, Any] = {"using": "default", "tenant": "acme"}
        given |= {"actor": Actor(), "at": NOON}
        three_seals()
        use_keys(settings, KEYS)
        assert not governance.tell_again(**given)
        use_keys(settings, {})
        prune()
        assert not governance.tell_again(**given)
