"""What policies of retention would do now: counts, in bounded time, and no change."""

from __future__ import annotations

import datetime as dt
import heapq
import time
from collections.abc import Iterator
from typing import Any, Final

from prism_memory.db.local import limited
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import DeadlineExceeded
from prism_memory.governance.retention.due import ask, parameters
from prism_memory.governance.retention.page import SCOPES
from prism_memory.governance.retention.policies import list_policies, rules_of
from prism_memory.models import RetentionPolicy
from prism_memory.types import NIL, Preview, Rules, Scope, ScopePreview

SHOWN_SCOPES: Final = 100
SECONDS: Final = 10.0


@for_tenant
def preview_policies(
    *, using: str, scope: Scope, at: dt.datetime, max_seconds: float = SECONDS
) -> list[Preview]:
    """Return what each policy in force of the tenant would do.

    Several may be about one record: it is counted by each.

    Args:
        max_seconds: For all of them together.

    Raises:
        ScopeDenied: The scope is below the tenant.
    """
    end = time.monotonic() + max_seconds
    rows = list_policies(using=using, scope=scope)
    return [
        preview_policy(
            using=using, policy=row, at=at, max_seconds=end - time.monotonic()
        )
        for row in rows
        if row.enabled
    ]


def preview_policy(
    *,
    using: str,
    policy: RetentionPolicy,
    at: dt.datetime,
    max_seconds: float = SECONDS,
) -> Preview:
    """Return what one policy would do, in force or not."""
    return preview_rules(
        using=using,
        tenant=policy.tenant,
        rules=rules_of(policy),
        at=at,
        max_seconds=max_seconds,
        policy=policy,
    )


@for_tenant
def preview_rules(
    *,
    using: str,
    tenant: str,
    rules: Rules,
    at: dt.datetime,
    max_seconds: float = SECONDS,
    policy: RetentionPolicy | None = None,
) -> Preview:
    """Return what rules would do in a tenant. Reads each scope's records.

    Args:
        max_seconds: After it, what was counted so far is told as incomplete.
        policy: Whose rules they are, if any.
    """
    due = kept = counted = 0
    most: list[ScopePreview] = []
    complete = True
    given = parameters(rules, tenant, at)
    try:
        for looked, found in _pages(using, given, time.monotonic() + max_seconds):
            counted += looked
            due += sum(scope.due for scope in found)
            kept += sum(scope.kept for scope in found)
            most = heapq.nlargest(SHOWN_SCOPES, [*most, *found], key=_size)
    except DeadlineExceeded:
        complete = False
    return Preview(
        due=due,
        kept=kept,
        counted=counted,
        scopes=tuple(most),
        complete=complete,
        policy_id=None if policy is None else policy.id,
        name="" if policy is None else policy.name,
    )


def _size(scope: ScopePreview) -> tuple[int, int]:
    return scope.due, scope.kept


def _pages(
    using: str, given: dict[str, Any], end: float
) -> Iterator[tuple[int, list[ScopePreview]]]:
    """Yield how many scopes were counted, and those where anything is due."""
    after = NIL
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded
        with limited(using, left):
            scopes = ask(using, "scopes", {**given, "scope": after, "scopes": SCOPES})
            named = {row["id"]: row for row in scopes if row["id"] != after}
            asked = {**given, "scope_ids": list(named)}
            found = ask(using, "counted", asked) if named else []
        yield len(named), [_shown(named[row["scope_id"]], row) for row in found]
        if len(scopes) < SCOPES:
            return
        after = scopes[-1]["id"]


def _shown(scope: dict[str, Any], row: dict[str, Any]) -> ScopePreview:
    return ScopePreview(
        scope_id=scope["id"],
        owner=scope["owner"],
        agent=scope["agent"],
        thread=scope["thread"],
        due=row["due"],
        kept=row["kept"],
    )
