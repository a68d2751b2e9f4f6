"""Policies of retention: made, changed, switched off and on, taken away."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction
from psycopg.errors import UniqueViolation

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, NotVisible, ScopeDenied
from prism_memory.models import RetentionPolicy
from prism_memory.types import (
    Actor,
    Kind,
    Rules,
    Scope,
    ScopeLevel,
    Tier,
    check_bool,
    check_name,
    check_part,
)


@for_tenant
def create_policy(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    name: str,
    rules: Rules,
    at: dt.datetime,
    enabled: bool = True,
    reason: str = "",
) -> RetentionPolicy:
    """Make a policy of the tenant.

    Args:
        scope: The tenant itself: whoever is bound below it makes no rules for it.
        enabled: Whether sweeps apply it.
        reason: For the audit; no text content.

    Raises:
        ScopeDenied: The scope is below the tenant.
        Invalid: The name cannot be stored.
        Conflict: The tenant has a policy of that name.
    """
    require_tenant(scope)
    check_part(rules, Rules, "rules")
    policy = RetentionPolicy(
        tenant=scope.tenant,
        name=check_name(name, "name"),
        enabled=check_bool(enabled, "enabled"),
        actor=actor.name,
        created_at=at,
        changed_at=at,
        **_columns(rules),
    )
    with transaction.atomic(using=using):
        _save(using, policy, force_insert=True)
        _record(using, policy, actor, "create", at, reason)
    return policy


@for_tenant
def change_policy(  # noqa: PLR0913 - keywords, most of them optional
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    policy_id: uuid.UUID,
    at: dt.datetime,
    changes: Mapping[str, Any] | None = None,
    name: str | None = None,
    enabled: bool | None = None,
    reason: str = "",
) -> RetentionPolicy:
    """Change a policy, or switch it off or on; what is not given stays.

    A sweep by it ends at its next step, and the next one begins anew.

    Args:
        changes: Of its rules, by the names that ``Rules`` has for them.

    Raises:
        ScopeDenied: The scope is below the tenant.
        NotVisible: The tenant has no such policy.
        Invalid: A value is not acceptable, or no rule would be left.
        Conflict: The tenant has another policy of that name.
    """
    with transaction.atomic(using=using):
        policy = _locked(using, scope, policy_id)
        before = _said(policy)
        rules = replace(rules_of(policy), **(changes or {}))
        for column, value in _columns(rules).items():
            setattr(policy, column, value)
        if name is not None:
            policy.name = check_name(name, "name")
        if enabled is not None:
            policy.enabled = check_bool(enabled, "enabled")
        changed = {key for key, value in _said(policy).items() if value != before[key]}
        if changed:
            policy.changed_at = at
            _save(using, policy)
            switched = "enable" if policy.enabled else "disable"
            verb = switched if changed == {"enabled"} else "change"
            _record(using, policy, actor, verb, at, reason)
    return policy


@for_tenant
def delete_policy(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    policy_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> None:
    """Take a policy away. What it deleted stays deleted; its runs stay listed.

    Raises:
        ScopeDenied: The scope is below the tenant.
        NotVisible: The tenant has no such policy.
    """
    with transaction.atomic(using=using):
        policy = _locked(using, scope, policy_id)
        _record(using, policy, actor, "delete", at, reason)
        policy.delete(using=using)


@for_tenant
def get_policy(*, using: str, scope: Scope, policy_id: uuid.UUID) -> RetentionPolicy:
    """Return one policy. One query.

    Raises:
        ScopeDenied: The scope is below the tenant.
        NotVisible: The tenant has no such policy.
    """
    require_tenant(scope)
    rows = RetentionPolicy.objects.using(using).filter(tenant=scope.tenant)
    policy = rows.filter(id=policy_id).first()
    if policy is None:
        raise NotVisible
    return policy


@for_tenant
def list_policies(*, using: str, scope: Scope) -> list[RetentionPolicy]:
    """Return the tenant's policies, by their names. One query.

    Raises:
        ScopeDenied: The scope is below the tenant.
    """
    require_tenant(scope)
    rows = RetentionPolicy.objects.using(using).filter(tenant=scope.tenant)
    return list(rows.order_by("name"))


def rules_of(policy: RetentionPolicy) -> Rules:
    """Return what a policy says."""
    return Rules(
        level=ScopeLevel(policy.level) if policy.level else None,
        kind=Kind(policy.kind) if policy.kind else None,
        tier=None if policy.tier is None else Tier(policy.tier),
        max_age_days=policy.max_age_days,
        max_entries=policy.max_entries,
        expired=policy.expired,
    )


def require_tenant(scope: Scope) -> None:
    """Refuse who is bound below the tenant.

    Raises:
        ScopeDenied: The scope is below the tenant.
    """
    if scope.owner:
        message = "Policies of retention are the tenant's; this scope is below it."
        raise ScopeDenied(message, field="scope")


def _locked(using: str, scope: Scope, policy_id: uuid.UUID) -> RetentionPolicy:
    require_tenant(scope)
    rows = RetentionPolicy.objects.using(using).select_for_update()
    policy = rows.filter(tenant=scope.tenant, id=policy_id).first()
    if policy is None:
        raise NotVisible
    return policy


def _columns(rules: Rules) -> dict[str, Any]:
    return {
        "level": "" if rules.level is None else rules.level.value,
        "kind": "" if rules.kind is None else rules.kind.value,
        "tier": None if rules.tier is None else rules.tier.value,
        "max_age_days": rules.max_age_days,
        "max_entries": rules.max_entries,
        "expired": rules.expired,
    }


def _said(policy: RetentionPolicy) -> dict[str, Any]:
    return _columns(rules_of(policy)) | {
        "enabled": policy.enabled,
        "name": policy.name,
    }


def _save(using: str, policy: RetentionPolicy, *, force_insert: bool = False) -> None:
    try:
        with transaction.atomic(using=using):
            policy.save(using=using, force_insert=force_insert)
    except IntegrityError as error:
        if not isinstance(error.__cause__, UniqueViolation):
            raise
        message = "There is a policy of that name already."
        raise Conflict(message, field="name") from None


def _record(
    using: str,
    policy: RetentionPolicy,
    actor: Actor,
    verb: str,
    at: dt.datetime,
    reason: str,
) -> None:
    audit.record(
        using=using,
        tenant=policy.tenant,
        actor=actor,
        action=f"retention.{verb}",
        target=f"policy:{policy.id}",
        at=at,
        reason=reason,
        detail={k: v for k, v in _said(policy).items() if k != "name"},
    )


@for_tenant
def enabled_policies(*, using: str, tenant: str) -> list[RetentionPolicy]:
    """Return what sweeps apply in a tenant, in the order of their ids. One query."""
    rows = RetentionPolicy.objects.using(using).filter(tenant=tenant, enabled=True)
    return list(rows.order_by("id"))
