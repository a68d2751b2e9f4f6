"""Two at once: one wins, the other gets a conflict or what the first one wrote."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from prism_memory.errors import Conflict, FactKeyInUse
from prism_memory.models import Fact, FactVersion
from prism_memory.types import Trust
from tests.factories import make_memory
from tests.facts.asserted import JUNE, MAY, assert_one, said, supersede_one
from tests.together import together

pytestmark = pytest.mark.django_db(transaction=True)


def attempt(verb: Any, *args: Any, **given: Any) -> Any:
    try:
        return verb(*args, **given)
    except Conflict as error:
        return error


def test_16_supersedes_of_one_fact_leave_one_current_version() -> None:
    """B317, case_C16."""
    old = assert_one()
    cited = [said(f"Words {n}.") for n in range(16)]

    def rival(n: int) -> Any:
        return lambda: attempt(supersede_one, old, f"Town {n}", evidence=[cited[n]])

    done = together([rival(n) for n in range(16)])
    won = [one for one in done if not isinstance(one, Conflict)]
    assert len(won) == 1
    assert FactVersion.objects.filter(fact_id=old.id, recorded_to=None).count() == 1
    assert Fact.objects.filter(closed_at=None).count() == 1
    assert Fact.objects.get(id=old.id).superseded_by == won[0].id


def test_16_writers_of_one_claim_write_it_once() -> None:
    """B311, case_C16."""
    cited = said()
    make: Any = lambda: assert_one(evidence=[cited], key="home")  # noqa: E731
    ids = {fact.id for fact in together([make] * 16)}
    assert len(ids) == Fact.objects.count() == 1


def test_of_two_claims_with_one_key_one_is_stored() -> None:
    cited = said()

    def claim(value: str) -> Any:
        return lambda: attempt(assert_one, value, evidence=[cited], key="home")

    done = together([claim(value) for value in ("Porto", "Lisbon")])
    refused = [one for one in done if isinstance(one, FactKeyInUse)]
    assert len(refused) == Fact.objects.count() == 1


def test_two_decisions_about_one_fact_do_not_cross() -> None:
    fact = assert_one(trust=Trust.TOOL)
    facts = make_memory().facts
    done = together(
        [
            lambda: attempt(facts.accept, fact.id),
            lambda: attempt(facts.retract, fact.id),
            lambda: attempt(facts.accept, fact.id),
        ]
    )
    refused = sum(isinstance(one, Conflict) for one in done)
    rows = FactVersion.objects.filter(fact_id=fact.id).order_by("recorded_from")
    assert (len(rows), refused) in ((1, 2), (2, 1))
    assert Fact.objects.get(id=fact.id).closing == "retracted"
    assert [row.recorded_to for row in rows[:1]] == [
        row.recorded_from for row in rows[1:]
    ] or len(rows) == 1


def test_evidence_that_goes_while_it_is_cited_is_cited_or_gone() -> None:
    """No fact is left that cites nothing."""
    for _ in range(4):
        cited = said(f"Words {uuid.uuid4()}.")

        def assert_it(cited: uuid.UUID = cited) -> Any:
            try:
                return assert_one(evidence=[cited], key=str(cited), valid_from=MAY)
            except Exception as error:  # noqa: BLE001 - looked at below
                return error

        def forget_it(cited: uuid.UUID = cited) -> Any:
            return make_memory().forget(cited)

        made, _gone = together([assert_it, forget_it])
        left = Fact.objects.filter(key=str(cited))
        assert not left.exists(), (made, JUNE)
