"""B22: every statement of retention names the tenant, whoever calls."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.governance import retention
from prism_memory.models import Run
from prism_memory.types import Rules, Scope
from tests.capture import tenant_in_every_statement
from tests.factories import make_scope
from tests.governance.retention.written import ACTOR, make_policy, old

pytestmark = pytest.mark.django_db

NO_QUERY = {"rules_of"}


def started() -> list[Run]:
    given: dict[str, Any] = {"actor": ACTOR, "at": timezone.now()}
    return retention.start_sweeps(using="default", tenant="acme", **given)


def calls(policy: Any) -> dict[str, Any]:
    own: dict[str, Any] = {"using": "default", "scope": Scope("acme")}
    act: dict[str, Any] = own | {"actor": ACTOR, "at": timezone.now()}
    at = timezone.now()
    using: dict[str, Any] = {"using": "default"}
    rules = Rules(max_age_days=0, max_entries=0, expired=True)
    swept: dict[str, Any] = {"actor": ACTOR, "batch": 1}
    return {
        "apply_retention": lambda: retention.apply_retention(
            **act | {"scope": make_scope(thread="chat-2")}, rules=rules, batch_size=9
        ),
        "preview_policies": lambda: retention.preview_policies(**own, at=at),
        "preview_policy": lambda: retention.preview_policy(
            **using, policy=policy, at=at
        ),
        "preview_rules": lambda: retention.preview_rules(
            **using, tenant="acme", rules=rules, at=at
        ),
        "create_policy": lambda: retention.create_policy(**act, name="q", rules=rules),
        "change_policy": lambda: retention.change_policy(
            **act, policy_id=policy.id, changes={"max_entries": 0}, enabled=True
        ),
        "get_policy": lambda: retention.get_policy(**own, policy_id=policy.id),
        "list_policies": lambda: retention.list_policies(**own),
        "sweep": lambda: retention.sweep(
            **using,
            policy=retention.get_policy(**own, policy_id=policy.id),
            **swept,
        ),
        "sweep_all": lambda: retention.sweep_all(**using, tenants=["acme"], **swept),
        "start_sweeps": started,
        "resume_sweep": lambda: retention.resume_sweep(
            **using, tenant="acme", run_id=started()[0].id
        ),
        "get_run": lambda: retention.get_run(
            **own, run_id=retention.list_runs(**own, limit=1)[0].id
        ),
        "list_runs": lambda: retention.list_runs(**own, limit=9),
        "delete_policy": lambda: retention.delete_policy(**act, policy_id=policy.id),
    }


def test_every_statement_names_the_tenant() -> None:
    policy = make_policy(expired=True)
    made = calls(policy)
    public = {
        name
        for name in retention.__all__
        if inspect.isfunction(getattr(retention, name))
    }
    assert public - NO_QUERY == made.keys()
    for name, call in made.items():
        for scope in (make_scope(), make_scope(thread="chat-2")):
            old(9, scope=scope)
        with tenant_in_every_statement("acme") as seen:
            call()
        assert seen.on_tenants(), name
