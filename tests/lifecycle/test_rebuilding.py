"""Records that are derived anew leave corrections behind; what else blocks says so."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.access import Reader, visible
from prism_memory.errors import Conflict
from prism_memory.models import Record, Tombstone
from prism_memory.types import Lineage
from tests.factories import make_memory, make_scope, make_tombstone, remember_one

pytestmark = pytest.mark.django_db


def say(key: str, *sources: str, text: str = "", **given: Any) -> uuid.UUID:
    lineage = Lineage(sources)
    return remember_one(text or f"{key} text", key=key, lineage=lineage, **given)


def plain(key: str) -> uuid.UUID:
    return remember_one(f"{key} text", key=key)


def keys() -> set[str]:
    return {item.key for item in make_memory().list()}


class TestCorrected:
    """B145, B162."""

    def test_what_derives_from_what_was_made_anew_is_shown(self):
        a = plain("a")
        say("b", "a")
        make_memory().correct(a, "a is right now")
        say("b", text="b without a")
        say("e", "b")
        assert keys() == {"a", "b", "e"}

    def test_the_same_words_with_other_sources_are_made_anew_too(self):
        a = plain("a")
        say("b", "a")
        make_memory().correct(a, "a is right now")
        say("b", "x")
        say("e", "b")
        assert keys() == {"a", "b", "e"}

    def test_what_was_derived_before_waits_until_it_is_made_anew_itself(self):
        a = plain("a")
        say("b", "a")
        say("c", "b")
        make_memory().correct(a, "a is right now")
        say("b", text="b without a")
        assert keys() == {"a", "b"}
        say("c", "b")  # the same again: written when b was wrong
        assert keys() == {"a", "b"}
        say("d", "c")
        assert keys() == {"a", "b"}
        say("c", "b", text="c anew")
        say("d", "c", text="d anew")
        assert keys() == {"a", "b", "c", "d"}

    def test_in_one_batch(self):
        a = plain("a")
        say("b", "a")
        say("c", "b")
        make_memory().correct(a, "a is right now")
        make_memory().remember(
            [
                {"text": "c anew", "key": "c", "lineage": {"source_ids": ["b"]}},
                {"text": "b anew", "key": "b", "lineage": {"source_ids": []}},
            ]
        )
        assert keys() == {"a", "b", "c"}

    def test_who_still_derives_from_it_stays_blocked(self):
        a = plain("a")
        plain("x")
        say("b", "a")
        say("c", "b", "a")
        make_memory().correct(a, "a is right now")
        say("c", "b", "x", text="still by way of b")
        say("b", "a", "x", text="b anew")
        assert keys() == {"a", "x"}

    def test_only_the_corrections_left_behind_are_lifted(self):
        a, z = plain("a"), plain("z")
        b = say("b", "a", "z")
        make_memory().correct(a, "a is right now")
        make_memory().correct(z, "z is right now")
        say("b", "z", text="b anew")
        assert keys() == {"a", "z"}
        stones = Tombstone.objects.filter(tenant="acme", target_ref=f"record:{b}")
        open_roots = stones.filter(cleared_at=None).values_list("root_ref", flat=True)
        assert list(open_roots) == [f"record:{z}"]

    def test_its_own_correction_stands(self):
        a = plain("a")
        make_memory().correct(a, "a is right now")
        say("a", "x", text="a from x")
        say("b", "a")
        assert keys() == {"a"}

    def test_another_tenants_stand(self):
        other = make_memory(make_scope(tenant="globex"))
        a, b = other.remember(
            [
                {"text": "a", "key": "a"},
                {"text": "b", "key": "b", "lineage": {"source_ids": ["a"]}},
            ]
        ).accepted
        other.correct(a, "a is right now")
        mine = plain("a")
        say("b", "a")
        make_memory().correct(mine, "a is right now")
        say("b", text="b without a")
        stones = Tombstone.objects.filter(tenant="globex", cleared_at=None)
        assert {stone.target_ref for stone in stones} == {f"record:{a}", f"record:{b}"}

    def test_before_it_was_made_anew_it_was_not_known(self):
        a = plain("a")
        b = say("b", "a")
        make_memory().correct(a, "a is right now")
        moment = timezone.now()
        say("b")
        now = Reader(make_scope(), at=timezone.now() + dt.timedelta(seconds=1))
        then = Reader(make_scope(), at=now.at, known_at=moment)
        assert b in {row.id for row in visible(using="default", reader=now)}
        assert {row.id for row in visible(using="default", reader=then)} == {a}

    def test_in_a_circle_the_corrected_record_is_shown(self):
        a = plain("a")
        say("b", "a")
        say("a", "b")
        make_memory().correct(a, "a is right now")
        assert keys() == {"a"}

    def test_in_a_circle_anothers_correction_hides_it(self):
        plain("a")
        b = say("b", "a")
        say("a", "b")
        make_memory().correct(b, "b is right now")
        assert keys() == {"b"}


def revoke(record_id: uuid.UUID) -> None:
    make_memory().set_consent(record_id, visible=False)


def hold(record_id: uuid.UUID) -> None:
    make_memory().forget(record_id, hold=True)


def without_sources(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "sources"}


def expire(record_id: uuid.UUID) -> None:
    derived = Record.objects.get(tenant="acme", key="d")
    make_tombstone(derived, root_ref=f"record:{record_id}", reason="expired")


class TestBlocked:
    @pytest.mark.parametrize("block", [revoke, hold, expire])
    @pytest.mark.parametrize(
        "given",
        [{"text": "other words"}, {"metadata": {"n": 1}}, {"sources": ()}],
        ids=["words", "metadata", "lineage"],
    )
    def test_what_is_blocked_is_not_written_over_in_vain(
        self, block: Callable[[uuid.UUID], None], given: dict[str, Any]
    ):
        a = plain("a")
        d = say("d", "a")
        block(a)
        with pytest.raises(Conflict):
            say("d", *given.get("sources", ("a",)), **without_sources(given))
        assert Record.objects.get(tenant="acme", id=d).text == "d text"

    def test_the_message_says_what_to_do_and_it_helps(self):
        a = plain("a")
        d = say("d", "a")
        revoke(a)
        with pytest.raises(Conflict, match="derived from; forget it first"):
            say("d", text="d from nothing")
        make_memory().forget(d)
        say("d", text="d from nothing")
        assert keys() == {"d"}

    def test_the_same_again_is_no_conflict(self):
        a = plain("a")
        d = say("d", "a")
        revoke(a)
        assert say("d", "a") == d
        assert keys() == set()
