"""Facts that fade are put aside, and come back; what is held stays."""

from __future__ import annotations

import datetime as dt
import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from prism_memory.governance.decay import Decayed, Rules, decay
from prism_memory.models import AuditEvent, Fact, Record, Review, Run
from prism_memory.types import Actor, Kind, Trust
from tests.factories import make_memory, make_scope
from tests.facts.asserted import assert_one, supersede_one, values
from tests.swept import sweep

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


def rules(**given: Any) -> Rules:
    defaults: dict[str, Any] = {"tau_days": 7.0, "capacity": -1, "weights": {}}
    return Rules(**{"below": 0.0, **defaults, **given})


def run(tenant: str = "acme", **given: Any) -> Decayed:
    return decay(using="default", tenant=tenant, actor=Actor(), rules=rules(**given))


def aged(days: int, value: str, **given: Any) -> Any:
    fact = assert_one(value, **given)
    written = timezone.now() - days * DAY
    Record.objects.filter(id=fact.id).update(created_at=written)
    return fact


def held() -> list[str]:
    return sorted(values(make_memory().facts("Ada", limit=50)))


def test_nothing_fades_unless_it_is_asked_for() -> None:
    """B427, B428."""
    aged(9_999, "Porto")
    assert decay(using="default", tenant="acme", actor=Actor()).ended == "off"
    assert held() == ["Porto"]
    assert not Run.objects.exists()


def test_what_faded_is_put_aside_and_taken_back() -> None:
    """B427: never deleted."""
    aged(30, "Porto")
    aged(10, "Lisbon")
    done = run(below=0.05)
    assert (done.ended, done.counts["faded"], done.counts["scopes"]) == ("done", 1, 1)
    assert held() == ["Lisbon"]
    assert len(make_memory().recall("Ada lives", kinds=[Kind.FACT])) == 1
    old = Fact.objects.get(value="Porto")
    make_memory().facts.unarchive(old.id)
    assert held() == ["Lisbon", "Porto"]
    event = AuditEvent.objects.get(action="fact.decay")
    assert event.detail["archived"] == 1


def test_over_the_capacity_the_least_salient_go() -> None:
    """B428, B429: what is archived fills nothing."""
    for n, importance in enumerate([0.9, 0.1, None, 0.5]):
        aged(1, f"Town {n}", importance=importance)
    assert run(capacity=4).counts.get("evicted", 0) == 0
    assert run(capacity=3).counts["evicted"] == 1
    assert held() == ["Town 0", "Town 2", "Town 3"]
    aged(1, "Town 4", importance=0.2)
    run(capacity=3)
    assert held() == ["Town 0", "Town 2", "Town 3"]
    run(capacity=0)
    assert held() == []


def test_ties_go_by_id() -> None:
    """B428."""
    first, second = (assert_one(f"Town {n}") for n in range(2))
    same = timezone.now() - DAY
    Record.objects.filter(id__in=[first.id, second.id]).update(created_at=same)
    run(capacity=1)
    assert held() == ["Town 1"]


def test_what_a_hold_keeps_stays_and_is_told() -> None:
    """B154."""
    fact = aged(30, "Porto")
    make_memory().hold(record=fact.id)
    done = run(below=0.05, capacity=0)
    assert (done.counts["kept"], done.counts.get("faded", 0)) == (1, 0)
    assert held() == ["Porto"]


def test_what_is_closed_or_anothers_is_left() -> None:
    old = aged(30, "Porto")
    supersede_one(old)
    there = make_memory(make_scope(tenant="globex"))
    aged(30, "Faro", memory=there)
    assert run(below=0.05).counts.get("faded", 0) == 0
    assert values(there.facts("Ada")) == ["Faro"]


def test_a_run_that_was_cut_goes_on() -> None:
    for thread in ("a", "b"):
        memory = make_memory(make_scope(thread=thread))
        aged(30, "Porto", memory=memory)
    cut = decay(
        using="default",
        tenant="acme",
        actor=Actor(),
        rules=rules(below=0.05),
        max_seconds=0,
    )
    assert cut.ended == "unfinished"
    assert run(below=0.05).counts["faded"] == 2
    assert Run.objects.count() == 1


def test_the_settings_the_task_and_the_command_ask_for_it(settings: Any) -> None:
    aged(30, "Porto")
    aged(30, "Faro", memory=make_memory(make_scope(tenant="globex")))
    sweep("decay")
    assert held() == ["Porto"]
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"DECAY_BELOW": 0.05}
    out = StringIO()
    call_command("prism_memory_decay", tenant="acme", json=True, stdout=out)
    assert json.loads(out.getvalue())[0]["faded"] == 1
    assert held() == []
    assert Fact.objects.filter(archived_at=None).count() == 1
    sweep("decay")
    assert not Fact.objects.filter(archived_at=None).exists()


def test_what_fades_waits_for_nobody() -> None:
    aged(30, "Porto", trust=Trust.TOOL)
    assert Review.objects.filter(decided_at=None).count() == 1
    run(below=0.05)
    assert Review.objects.get().decision == "lapsed"


def test_what_was_taken_back_stays_for_as_long_as_it_would_fresh() -> None:
    aged(30, "Porto")
    run(below=0.05)
    make_memory().facts.unarchive(Fact.objects.get().id)
    assert run(below=0.05).counts.get("faded", 0) == 0
    assert held() == ["Porto"]


def test_what_a_hold_keeps_does_not_keep_the_others_too() -> None:
    """B428: the capacity is reached by those that may go."""
    facts = [aged(1, f"Town {n}", importance=n / 10) for n in range(4)]
    for fact in facts[:2]:
        make_memory().hold(record=fact.id)
    assert run(capacity=2).counts["evicted"] == 2
    assert held() == ["Town 0", "Town 1"]
    event = AuditEvent.objects.get(action="fact.decay")
    assert event.detail["facts"] == sorted(str(fact.id) for fact in facts[2:])
