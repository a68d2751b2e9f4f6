"""Retention and facts: by rules that name them, and where their evidence is due."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from django.utils import timezone

from prism_memory.models import AuditEvent, Evidence, Fact, Record, Tombstone
from prism_memory.types import FactItem, Lineage
from tests.factories import make_memory, make_scope, remember_one
from tests.governance.retention.written import ids, make_policy, old, place_hold, run

pytestmark = pytest.mark.django_db


def claim(value: str, *evidence: uuid.UUID) -> FactItem:
    facts = make_memory().facts
    return facts.assert_fact("Ada", "likes", value, evidence=evidence)


def made_old(*facts: FactItem) -> None:
    at = timezone.now() - dt.timedelta(days=30)
    Record.objects.filter(id__in=[f.id for f in facts]).update(created_at=at)


def test_a_fact_goes_with_its_last_evidence_and_stays_on_other() -> None:
    """B320, B322: what only derives is blocked, and stays; a fact cites something."""
    due, young = old(30), remember_one("young")
    note = remember_one("note", lineage=Lineage((f"record:{due}",)))
    alone, both = claim("alone", due), claim("both", due, young)
    upon = claim("upon", note, young)
    run(make_policy(max_age_days=7))
    assert ids() == {young, note, both.id, upon.id}
    assert {i.id for i in make_memory().facts("Ada").items} == {both.id, upon.id}
    cited = Evidence.objects.values_list("fact_id", "record_id")
    assert {*cited} == {(both.id, young), (upon.id, young)}
    blocked = Tombstone.objects.values_list("target_ref", flat=True)
    assert {*blocked} == {f"record:{i}" for i in (due, note, alone.id)}
    event = AuditEvent.objects.get(action="retention.sweep")
    assert (event.detail["deleted"], event.detail["blocked"]) == (2, 3)


@pytest.mark.parametrize("batch", [1, 500])
def test_a_rule_that_names_facts_takes_them_alone(batch: int) -> None:
    """B151: their evidence stays, and what is younger."""
    words = old(30)
    first, young = claim("first", words), claim("young", words)
    follows = claim("follows", first.id)
    held = claim("held", words)
    made_old(first, held)
    place_hold(f"record:{held.id}")
    stranger = make_memory(make_scope(tenant="globex"))
    theirs = stranger.remember("theirs").accepted
    other = stranger.facts.assert_fact("Ada", "likes", "other", evidence=theirs)
    made_old(other)
    done = run(make_policy(kind="fact", max_age_days=7), batch=batch)
    assert done.counts["kept"] == 1
    assert follows.id not in ids()
    assert ids() == {words, young.id, held.id}
    assert Fact.objects.filter(id=other.id).exists()


def test_a_held_fact_keeps_its_evidence() -> None:
    """B326."""
    due = old(30)
    held = claim("held", due)
    place_hold(f"record:{held.id}")
    run(make_policy(max_age_days=7))
    assert make_memory().apply_retention(max_age_days=7).kept == 1
    assert ids() == {due, held.id}
    assert [i.id for i in make_memory().facts("Ada").items] == [held.id]
