"""Policies: made, changed, switched, taken away; the tenant's own alone."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from prism_memory.errors import Conflict, Invalid, NotVisible, ScopeDenied
from prism_memory.governance import retention
from prism_memory.models import AuditEvent, RetentionPolicy
from prism_memory.types import Kind, Rules, Scope, ScopeLevel, Tier
from tests.factories import make_scope
from tests.governance.retention.written import ACTOR, make_policy

pytestmark = pytest.mark.django_db

OWN: dict[str, Any] = {"using": "default", "scope": Scope("acme")}


def by(**given: Any) -> dict[str, Any]:
    return OWN | {"actor": ACTOR, "at": timezone.now()} | given


def actions() -> list[str]:
    rows = AuditEvent.objects.filter(tenant="acme").order_by("id")
    return list(rows.values_list("action", flat=True))


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({}, "max_age_days"),
        ({"max_age_days": -1}, "max_age_days"),
        ({"max_age_days": 365_001}, "max_age_days"),
        ({"max_entries": -1}, "max_entries"),
        ({"max_entries": 1.0}, "max_entries"),
        ({"max_entries": True}, "max_entries"),
        ({"expired": 1}, "expired"),
        ({"expired": True, "level": "world"}, "level"),
        ({"expired": True, "kind": "secret"}, "kind"),
        ({"expired": True, "tier": "working"}, "tier"),
    ],
    ids=str,
)
def test_rules_that_are_none_are_refused(bad: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as raised:
        Rules(**bad)
    assert raised.value.field == field


def test_rules_come_back_as_they_were_given() -> None:
    rules = Rules(
        level=ScopeLevel.THREAD,
        kind=Kind.CHUNK,
        tier=Tier.NONE,
        max_age_days=0,
        max_entries=0,
        expired=True,
    )
    policy = retention.create_policy(**by(name="p", rules=rules))
    found = retention.get_policy(**OWN, policy_id=policy.id)
    assert retention.rules_of(found) == rules
    assert (found.name, found.enabled, found.actor) == ("p", True, "user:olga")


def test_every_verb_is_audited_with_what_the_policy_says() -> None:
    """B503."""
    policy = make_policy(max_age_days=9)
    key: dict[str, Any] = {"policy_id": policy.id}
    retention.change_policy(
        **by(**key, changes={"max_age_days": None, "max_entries": 3}, reason="case 7")
    )
    retention.change_policy(**by(**key, enabled=False))
    retention.change_policy(**by(**key, enabled=True))
    retention.delete_policy(**by(**key))
    verbs = ("create", "change", "disable", "enable", "delete")
    assert actions() == [f"retention.{verb}" for verb in verbs]
    change = AuditEvent.objects.get(tenant="acme", action="retention.change")
    assert (change.target, change.reason) == (f"policy:{policy.id}", "case 7")
    assert change.detail["max_entries"] == 3
    assert change.detail["max_age_days"] is None
    assert not RetentionPolicy.objects.exists()


def test_a_change_leaves_what_it_does_not_name_and_some_rule() -> None:
    policy = make_policy(kind="note", max_age_days=9)
    own = by(policy_id=policy.id)
    changed = retention.change_policy(**own, changes={"max_entries": 3})
    assert (changed.kind, changed.max_age_days, changed.max_entries) == ("note", 9, 3)
    with pytest.raises(Invalid):
        retention.change_policy(
            **own, changes={"max_age_days": None, "max_entries": None}
        )
    policy.refresh_from_db()
    assert (policy.max_age_days, policy.max_entries) == (9, 3)


def test_what_changes_nothing_is_no_event() -> None:
    policy = make_policy(max_age_days=9)
    same: dict[str, Any] = {"policy_id": policy.id}
    retention.change_policy(**by(**same, changes={"max_age_days": 9}))
    retention.change_policy(**by(**same, enabled=True))
    assert actions() == ["retention.create"]


def test_a_name_is_used_once() -> None:
    first = make_policy("a", expired=True)
    make_policy("b", expired=True)
    make_policy("a", tenant="globex", expired=True)
    with pytest.raises(Conflict) as raised:
        make_policy("a", expired=True)
    assert raised.value.field == "name"
    with pytest.raises(Conflict):
        retention.change_policy(**by(policy_id=first.id, name="b"))
    renamed = retention.change_policy(**by(policy_id=first.id, name="c"))
    assert renamed.name == "c"
    assert [p.name for p in retention.list_policies(**OWN)] == ["b", "c"]


@pytest.mark.parametrize("name", ["", "  ", "a\0b", 7])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(Invalid):
        make_policy(name, expired=True)


VERBS: dict[str, Callable[[uuid.UUID, Scope], object]] = {
    "change": lambda key, scope: retention.change_policy(
        **by(policy_id=key, name="x", scope=scope)
    ),
    "enable": lambda key, scope: retention.change_policy(
        **by(policy_id=key, enabled=False, scope=scope)
    ),
    "delete": lambda key, scope: retention.delete_policy(
        **by(policy_id=key, scope=scope)
    ),
    "get": lambda key, scope: retention.get_policy(
        using="default", scope=scope, policy_id=key
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_another_tenants_policy_is_not_visible(verb: str) -> None:
    foreign = make_policy(tenant="globex", expired=True)
    with pytest.raises(NotVisible):
        VERBS[verb](foreign.id, Scope("acme"))
    with pytest.raises(NotVisible):
        VERBS[verb](uuid.uuid4(), Scope("acme"))
    foreign.refresh_from_db()
    assert (foreign.name, foreign.enabled) == ("p", True)
    assert not actions()


@pytest.mark.parametrize(
    "scope", [make_scope(), Scope("acme", owner="ada")], ids=["thread", "owner"]
)
def test_below_the_tenant_nobody_has_to_do_with_policies(scope: Scope) -> None:
    mine = make_policy(expired=True)
    calls: list[Callable[[], object]] = [
        *(lambda verb=verb: verb(mine.id, scope) for verb in VERBS.values()),
        lambda: retention.create_policy(
            **by(scope=scope, name="x", rules=Rules(expired=True))
        ),
        lambda: retention.list_policies(using="default", scope=scope),
        lambda: retention.list_runs(using="default", scope=scope, limit=5),
        lambda: retention.preview_policies(
            using="default", scope=scope, at=timezone.now()
        ),
    ]
    for call in calls:
        with pytest.raises(ScopeDenied):
            call()
    assert RetentionPolicy.objects.count() == 1
