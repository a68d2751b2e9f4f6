"""Claims that meet in the same moment."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest import mock

import pytest

from prism_memory.errors import Conflict, NotVisible
from prism_memory.facts import committing, remember
from prism_memory.facts import standing as floor
from prism_memory.models import ConflictDecision, Evidence, Fact, Record
from prism_memory.types import ConflictStage, Verdict
from tests.factories import make_memory
from tests.facts.near import planned
from tests.together import together

PORTO = "Ada lives in Porto"


def decide(text: str, **given: Any) -> Any:
    return make_memory().facts.remember_with_decision(text, **given)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("key", ["home", None])
def test_sixteen_who_say_the_same_get_one_fact(key: str | None) -> None:
    """case_C16. B333: one row with one note; each call left its decision."""
    with planned():
        found = together([partial(decide, PORTO, key=key)] * 16)
    assert len({one.fact.id for one in found}) == 1
    verdicts = [one.verdict for one in found]
    assert verdicts.count(Verdict.ADMIT) == 1
    assert verdicts.count(Verdict.DEDUP) == 15
    rows = (Fact, Evidence, ConflictDecision, Record)
    assert [table.objects.count() for table in rows] == [1, 1, 16, 2]


@pytest.mark.django_db(transaction=True)
def test_sixteen_who_replace_one_fact_leave_one_that_holds() -> None:
    """case_C16. B317: each later one replaces the one before it; none is lost."""
    towns = [f"Ada moved to town {n}" for n in range(16)]
    with planned({"moved": 0.8}):
        first = make_memory().facts.remember(PORTO)
        found = together([partial(decide, town) for town in towns])
        held = make_memory().facts()
    assert all(one.verdict is Verdict.SUPERSEDE for one in found)
    assert len(held) == 1
    assert len(make_memory().facts.history(first.id)) == 17
    assert len({one.fact.supersedes for one in found}) == 16


@pytest.mark.django_db(transaction=True)
def test_claims_and_those_who_settle_forget_and_purge_them_do_not_lock_up() -> None:
    """Each ends, with what it wanted or a conflict; no deadlock."""
    with planned({"moved": 0.8, "cello": 0.6}):
        facts = make_memory().facts
        old = facts.remember(PORTO)
        found = [decide(f"Ada plays cello {n}") for n in range(6)]

        def tried(call: Any, *args: Any) -> Any:
            try:
                return call(*args)
            except (Conflict, NotVisible) as error:
                return error

        together(
            [
                partial(tried, facts.settle_conflict, found[0].decision_id, "dedup"),
                partial(
                    tried, facts.settle_conflict, found[1].decision_id, "supersede"
                ),
                partial(tried, facts.settle_conflict, found[1].decision_id, "admit"),
                partial(tried, facts.forget, found[2].fact.id),
                partial(tried, facts.purge, found[3].fact.id),
                partial(tried, facts.retract, old.id),
                *[
                    partial(tried, facts.remember, f"Ada moved to {n}")
                    for n in range(4)
                ],
                *[partial(tried, facts.remember, PORTO)] * 2,
            ]
        )
        settled = ConflictDecision.objects.get(id=found[1].decision_id)
    assert settled.settled_at is not None
    assert Fact.objects.filter(closing="superseded", superseded_by=None).count() == 0


@pytest.mark.django_db
def test_a_claim_whose_neighbour_just_went_is_decided_anew() -> None:
    """What is near is found before the transaction, and looked at again inside."""
    with planned({"moved": 0.8}):
        old = make_memory().facts.remember(PORTO)
        standing = floor.standing

        def forgotten_first(**given: Any) -> Any:
            if Fact.objects.get(id=old.id).closing == "":
                make_memory().facts.forget(old.id)
            return standing(**given)

        with mock.patch.object(remember, "standing", forgotten_first):
            found = decide("Ada moved to Faro")
    assert found.verdict is Verdict.ADMIT
    assert found.others == ()


@pytest.mark.django_db
def test_a_rival_that_is_quicker_makes_it_decide_anew() -> None:
    with planned({"moved": 0.8}):
        old = make_memory().facts.remember(PORTO)
        standing, rivals = floor.standing, iter([True])

        def with_rival(**given: Any) -> Any:
            found = standing(**given)
            if next(rivals, False):
                make_memory().facts.retract(old.id)
            return found

        with mock.patch.object(remember, "standing", with_rival):
            # What the rival did goes with the savepoint here; what is proved is that
            # the claim is looked at again and stored once.
            found = decide("Ada moved to Faro")
    assert found.verdict is Verdict.SUPERSEDE
    assert Fact.objects.count() == 2
    assert ConflictDecision.objects.count() == 2


@pytest.mark.django_db
def test_rivals_without_end_are_a_conflict_and_nothing_is_written() -> None:
    with planned({"moved": 0.8}):
        make_memory().facts.remember(PORTO)
        with (
            mock.patch.object(committing, "supersede", side_effect=Conflict),
            pytest.raises(Conflict, match="again and again"),
        ):
            decide("Ada moved to Faro")
    assert Fact.objects.count() == 1
    assert ConflictDecision.objects.filter(stage=ConflictStage.MARKERS).count() == 0
