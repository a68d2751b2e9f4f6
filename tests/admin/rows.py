"""Makers of the rows that only these pages show, and of the people who look."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission as DjangoPermission
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.models import AccessKey, AuditEvent, ErasureReceipt, RecallTrace, Run
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Actor, Permission, Scope
from tests.factories import NOON, make_scope, make_trace


def scope_row(scope: Scope | None = None) -> ScopeRow:
    scope = scope or make_scope()
    return ScopeRow.objects.get(tenant=scope.tenant, id=scope.id)


def make_run(**given: Any) -> Run:
    defaults = {"tenant": "acme", "kind": "import", "actor": "system"}
    return Run.objects.create(**{**defaults, **given})


def make_event(**given: Any) -> AuditEvent:
    defaults: dict[str, Any] = {
        "tenant": "acme",
        "actor": "system",
        "action": "memory.set_consent",
        "target": "record:0198c0de-0000-7000-8000-000000000000",
        "at": NOON,
    }
    return AuditEvent.objects.create(**{**defaults, **given})


def make_key(scope: Scope | None = None, **given: Any) -> AccessKey:
    defaults: dict[str, Any] = {
        "label": "support bot",
        "permissions": [Permission.READ],
        "at": timezone.now(),
        "expires_at": timezone.now() + dt.timedelta(days=90),
    }
    key, _token = lifecycle.create_key(
        using="default",
        scope=scope or make_scope(),
        actor=Actor("system"),
        **{**defaults, **given},
    )
    return key


def make_trace_row(*ids: uuid.UUID, **given: Any) -> RecallTrace:
    trace = make_trace(*ids, **given)
    assert lifecycle.write_trace(using="default", trace=trace)
    return RecallTrace.objects.get(tenant=trace.scope.tenant, id=trace.id)


def make_receipt(**given: Any) -> ErasureReceipt:
    defaults: dict[str, Any] = {
        "tenant": "acme",
        "level": "owner",
        "target_ref": "scope:0198c0de-0000-7000-8000-000000000000",
        "found": True,
        "counts": {"prism_memory_record": 3},
        "kept": {"records": 1},
        "actor": "system",
        "at": NOON,
        "finished_at": NOON,
    }
    return ErasureReceipt.objects.create(**{**defaults, **given})


def make_staff(*permissions: str, name: str = "sam") -> Any:
    """Return a member of staff with exactly these permissions of the app."""
    user = get_user_model().objects.create_user(name, is_staff=True)
    rows = DjangoPermission.objects.filter(
        content_type__app_label="prism_memory", codename__in=permissions
    )
    assert len(rows) == len(permissions)
    user.user_permissions.set(rows)
    return user
