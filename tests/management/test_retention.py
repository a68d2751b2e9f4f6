"""``prism_memory_retention``."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from prism_memory.governance.retention import Pass, Swept
from prism_memory.management.commands import prism_memory_retention as module
from prism_memory.models import AuditEvent, Record
from tests.factories import make_scope
from tests.governance.retention.written import make_policy, old, place_hold
from tests.tables import counts

pytestmark = pytest.mark.django_db


def call(*args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command("prism_memory_retention", *args, stdout=out, **options)
    return out.getvalue()


def fill() -> Any:
    policy = None
    for tenant in ("acme", "globex"):
        for _ in range(2):
            old(9, scope=make_scope(tenant=tenant))
        policy = make_policy("a week", tenant=tenant, max_age_days=7)
    place_hold(f"record:{old(30)}")
    return policy


def test_it_applies_what_is_in_force() -> None:
    fill()
    lines = call().splitlines()
    assert lines[0].split() == list(module.SWEPT)
    assert lines[1].split() == ["acme", "a", "week", "done", "2", "1", "1"]
    assert Record.objects.count() == 1
    actors = AuditEvent.objects.filter(action="retention.sweep").values_list("actor")
    assert all(actor.startswith("command") for (actor,) in actors)


def test_a_dry_run_tells_and_changes_nothing() -> None:
    policy = fill()
    before = counts()
    found = json.loads(call("--dry-run", "--json", "--tenant", "globex"))
    assert found == [
        {
            "tenant": "globex",
            "policy": "a week",
            "policy_id": str(policy.id),
            "due": 2,
            "kept": 0,
            "scopes": 1,
            "complete": True,
        }
    ]
    told = call("--dry-run").splitlines()
    assert told[1].split() == ["acme", "a", "week", "2", "1", "1", "yes"]
    assert counts() == before


@pytest.mark.parametrize("name", ["max_age_days", "max_entries"])
def test_a_dry_run_warns_of_0(name: str) -> None:
    fill()
    rules: dict[str, Any] = {name: 0}
    make_policy("all", **rules)
    err = io.StringIO()
    call("--dry-run", stderr=err)
    assert err.getvalue() == (
        "acme / all: 0 keeps nothing; all that it is about goes.\n"
    )
    assert Record.objects.count() == 5


def test_only_the_named_tenants_policies() -> None:
    fill()
    (one,) = json.loads(call("--json", "--tenant", "globex", "--batch", "1"))
    assert (one["deleted"], one["ended"], one["run_id"] is None) == (2, "done", False)
    assert {row.tenant for row in Record.objects.all()} == {"acme"}


def test_an_unknown_tenant_is_refused_and_an_empty_one_is_none() -> None:
    with pytest.raises(CommandError, match="nothing was ever remembered"):
        call("--tenant", "nobody")
    with pytest.raises(CommandError):
        call("--tenant", "")
    with pytest.raises(CommandError):
        call("--batch", "5001")


def test_without_policies_nothing_is_done() -> None:
    old(9)
    assert call().strip() == "No policy is in force."
    assert Record.objects.count() == 1


def test_work_that_another_took_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = make_policy(expired=True)
    taken = Swept("acme", policy.id, None, "elsewhere")
    monkeypatch.setattr(module, "sweep_all", lambda **_: Pass((taken,)))
    with pytest.raises(CommandError, match="Another process"):
        call()
