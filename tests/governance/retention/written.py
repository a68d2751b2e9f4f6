"""Records of a given age, and policies, for the tests of retention."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.utils import timezone

from prism_memory.governance.retention import Swept, create_policy, sweep
from prism_memory.models import LegalHold, Record, RetentionPolicy
from prism_memory.types import Actor, Rules, Scope
from tests.factories import make_record, make_scope

ACTOR = Actor("user:olga")


def old(
    days: float, text: str = "a", scope: Scope | None = None, **fields: Any
) -> uuid.UUID:
    """Remember a text as if it had been days ago; return its id."""
    at = timezone.now() - dt.timedelta(days=days)
    record = make_record(
        f"{text} {uuid.uuid4().hex}", scope=scope, fields=fields, created_at=at
    )
    return record.id


def ids(scope: Scope | None = None) -> set[uuid.UUID]:
    """Return what is left in a scope."""
    scope = scope or make_scope()
    rows = Record.objects.filter(tenant=scope.tenant, scope_id=scope.id)
    return set(rows.values_list("id", flat=True))


def place_hold(ref: str, level: str = "record", **given: Any) -> LegalHold:
    """Place a hold by a plain insert."""
    fields = {"tenant": "acme", "placed_by": "olga", "placed_at": timezone.now()}
    return LegalHold.objects.create(target_ref=ref, level=level, **fields | given)


def make_policy(name: str = "p", tenant: str = "acme", **rules: Any) -> RetentionPolicy:
    return create_policy(
        using="default",
        scope=Scope(tenant),
        actor=ACTOR,
        name=name,
        rules=Rules(**rules),
        at=timezone.now(),
    )


def run(policy: RetentionPolicy, batch: int = 500, **given: Any) -> Swept:
    return sweep(using="default", policy=policy, actor=ACTOR, batch=batch, **given)
