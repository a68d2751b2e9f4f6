"""What claims cost, and that each statement names its tenant."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from prism_memory.facts import judging
from prism_memory.facts.lapse import lapse_conflicts
from prism_memory.models import ConflictDecision, Record, Review
from prism_memory.types import Actor, Ruling, Verdict
from tests.capture import tenant_in_every_statement
from tests.factories import make_memory
from tests.facts.near import planned

pytestmark = pytest.mark.django_db

PORTO = "Ada lives in Porto"
NEAR = {"cello": 0.6, "moved": 0.8}


def test_every_statement_on_claims_names_the_tenant() -> None:
    """B22."""
    facts = make_memory().facts
    with planned(NEAR), tenant_in_every_statement("acme") as captured:
        facts.remember(PORTO)
        facts.remember(PORTO)
        facts.remember(PORTO, pipeline="off")
        facts.remember("Ada moved to Faro", provenance="extraction")
        for verdict in (Verdict.SUPERSEDE, Verdict.DEDUP):
            words = f"Ada plays cello {len(verdict)}"
            found = facts.remember_with_decision(words)
            assert len(facts.conflicts()) == 1
            facts.settle_conflict(found.decision_id, verdict)
        facts.remember("Ada plays the cello in Faro")
        done = judging.judge_conflicts(
            using="default",
            tenant="acme",
            actor=Actor(),
            rule=lambda _claim, _others: Ruling(Verdict.PENDING),
        )
        lapse_conflicts(
            using="default",
            tenant="acme",
            actor=Actor(),
            at=timezone.now(),
            rows=10,
        )
    assert (done.asked, done.resting) == (1, 1)
    assert captured.statements


def test_a_claim_costs_as_much_beside_many_as_beside_one() -> None:
    """C33: no query for each neighbour."""
    facts = make_memory().facts

    def cost(text: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            facts.remember(text)
        return len(captured)

    with planned(NEAR):
        facts.remember(PORTO)
        one = cost("Ada plays cello 1")
        for number in range(2, 9):
            facts.remember(f"Ada plays cello {number}")
        many = cost("Ada plays cello 9")
    assert many == one


@pytest.mark.parametrize("verb", ["purge", "forget", "erase"])
def test_where_a_fact_is_deleted_its_bare_words_go_too(verb: str) -> None:
    """B325, B417: by whichever door; what stays beside it stays."""
    memory = make_memory()
    with planned(NEAR):
        other = memory.facts.remember(PORTO)
        fact = memory.facts.remember("Ada plays the cello")
    if verb == "purge":
        memory.facts.purge(fact.id)
    elif verb == "forget":
        memory.forget([fact.id])
    else:
        memory.erase(record=fact.id)
    assert not Record.objects.filter(text__contains="cello").exists()
    assert {r.id for r in Record.objects.all()} == {other.id, *other.evidence}


def test_what_is_purged_takes_its_decisions_and_reviews_along() -> None:
    """B328, B417."""
    facts = make_memory().facts
    with planned(NEAR):
        facts.remember(PORTO)
        found = facts.remember_with_decision("Ada plays the cello")
    facts.purge(found.fact.id)
    assert not ConflictDecision.objects.filter(fact=found.fact.id).exists()
    assert not Review.objects.filter(record=found.fact.id).exists()
    assert facts.conflicts().items == ()
