"""What bears a name, or a thing's id outside, where nothing else of a scope is left."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.governance import erasure
from prism_memory.governance.erasure.leftovers import leftovers
from prism_memory.models import LegalHold, Record, Tombstone
from prism_memory.types import Scope
from tests.factories import make_tombstone, remember_one
from tests.governance.erasing import OPERATOR, erase, furnish
from tests.tables import holding

pytestmark = pytest.mark.django_db

NAME = "zaphodbeeblebrox"
OWNER = Scope("acme", NAME)
DEEP = Scope("acme", NAME, "agent", "thread")
LEVELS = [OWNER, Scope("acme", NAME, "agent"), DEEP]


def hold(scope: Scope, **given: Any) -> LegalHold:
    found = lifecycle.hold(
        using="default", scope=scope, actor=OPERATOR, at=timezone.now(), **given
    )
    return LegalHold.objects.get(id=found.id)


def release(held: LegalHold, scope: Scope) -> None:
    lifecycle.release(
        using="default",
        scope=scope,
        actor=OPERATOR,
        hold_id=held.id,
        at=timezone.now(),
    )


def left(scope: Scope) -> dict[str, int]:
    return {one.place: one.rows for one in leftovers(using="default", scope=scope)}


@pytest.mark.parametrize("scope", LEVELS)
def test_a_released_hold_loses_its_names_where_nothing_was_written(
    scope: Scope,
) -> None:
    remember_one(scope=Scope("acme", "bob"))
    release(hold(scope, matter="12"), scope)
    assert left(scope) == {"prism_memory_legalhold.owner": 1}
    seen = erasure.foresee(using="default", scope=scope)
    done = erase(scope)
    assert (seen.found, done.found) == (True, True)
    assert seen.counts == done.counts == {"hold_names": 1}
    assert holding(NAME) == []
    assert left(scope) == {}
    assert LegalHold.objects.get().matter == "12"
    assert not erase(scope).found


def test_one_among_others_is_counted() -> None:
    furnish(DEEP, "words")
    release(hold(DEEP), DEEP)
    other = Scope("acme", "bob")
    remember_one(scope=other)
    release(hold(other), other)
    seen = erasure.foresee(using="default", scope=OWNER)
    done = erase(OWNER)
    assert seen.counts == done.counts
    assert done.counts["hold_names"] == 1
    assert LegalHold.objects.exclude(owner="").get().owner == "bob"


def test_a_hold_in_force_keeps_its_name_and_is_told() -> None:
    held = hold(DEEP)
    assert not erase(OWNER).found
    assert left(OWNER) == {"prism_memory_legalhold.owner": 1}
    release(held, DEEP)
    assert erase(OWNER).counts == {"hold_names": 1}
    assert holding(NAME) == []


def test_a_tenants_own_hold_bears_no_name() -> None:
    remember_one(scope=Scope("acme", "bob"))
    release(hold(Scope("acme")), Scope("acme"))
    assert "hold_names" not in erase(Scope("acme")).counts
    assert left(Scope("acme")) == {}


def test_of_a_stranger_nothing_is_touched() -> None:
    for scope in (Scope("globex", NAME), Scope("acme", "bob"), OWNER):
        release(hold(scope), scope)
    assert erase(DEEP).found is False
    assert erase(OWNER).counts == {"hold_names": 1}
    rows = LegalHold.objects.exclude(owner="").values_list("tenant", "owner")
    assert {*rows} == {("globex", NAME), ("acme", "bob")}


def ext(scope: Scope, name: str) -> str:
    return f"ext:{scope.id}:{name}"


class TestOutside:
    """Tombstones on things outside that were named in a scope which is gone."""

    def stones(self) -> set[str]:
        return {*Tombstone.objects.values_list("target_ref", flat=True)}

    def gone_with(self, **given: Any) -> None:
        """Erase an owner who has one more such tombstone, and check the counts."""
        record = Record.objects.get(id=remember_one("x", scope=DEEP))
        bob = Record.objects.get(id=remember_one("y", scope=Scope("acme", "bob")))
        for one, scope in ((record, DEEP), (bob, bob.scope.value)):
            refs = {
                name: ref.format(ext=ext(scope, "a"), record=f"record:{one.id}")
                for name, ref in given.items()
                if name.endswith("_ref")
            }
            make_tombstone(one, **{**given, **refs})
        other = make_tombstone(record, target_ref=f"record:{uuid.uuid4()}")
        seen = erasure.foresee(using="default", scope=OWNER)
        done = erase(OWNER)
        assert seen.counts == done.counts
        assert done.counts["prism_memory_tombstone"] == 1
        rows = Tombstone.objects.values_list("target_ref", "root_ref")
        assert not any(str(DEEP.id) in ref for row in rows for ref in row)
        assert any(str(bob.scope_id) in ref for row in rows for ref in row)
        assert other.target_ref in self.stones()

    def test_on_the_thing(self) -> None:
        self.gone_with(target_ref="{ext}")

    def test_on_the_thing_that_was_lifted(self) -> None:
        self.gone_with(target_ref="{ext}", cleared_at=timezone.now())

    def test_on_what_follows_from_it(self) -> None:
        self.gone_with(target_ref="{record}", root_ref="{ext}")
