"""Sweeps: policies applied to all scopes of their tenants, page by page, as runs.

A page is one transaction: tombstones, bodies, the audit, and how far the run is. Who
is killed in between has done nothing of it, and who comes next goes on from there.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal

from django.utils import timezone

from prism_memory import audit, runs
from prism_memory.db.tenancy import acting_for, for_tenant
from prism_memory.errors import Conflict, NotVisible
from prism_memory.governance.retention.due import (
    BATCH,
    Due,
    Gone,
    ask,
    parameters,
    patiently,
    remove_due,
)
from prism_memory.governance.retention.policies import (
    enabled_policies,
    require_tenant,
    rules_of,
)
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import RetentionPolicy, Run
from prism_memory.models.choices import RunState
from prism_memory.types import Actor, Scope

KIND: Final = "retention"
SCOPES: Final = 100
"""Scopes that one query looks at."""

FIRST: Final = uuid.UUID(int=0)
LAST: Final = uuid.UUID(int=2**128 - 1)

Ended = Literal["done", "unfinished", "changed", "elsewhere"]
Position = tuple[str, uuid.UUID]


@dataclass(frozen=True)
class Swept:
    """How one sweep ended.

    Args:
        policy_id: By which policy.
        run_id: None where another process began it in the same moment.
        ended: ``done``; ``unfinished``: out of time, the next goes on from there;
            ``changed``: the policy was; ``elsewhere``: another process took it up.
        counts: Of the whole run: ``deleted``, ``kept`` by holds, ``scopes`` looked at.
    """

    tenant: str
    policy_id: uuid.UUID
    run_id: uuid.UUID | None
    ended: Ended
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pass:
    """What one call over many policies did.

    Args:
        position: Tenant and policy of the last that is done, where the time was over.
            Give it to the next call. None: nothing is left.
    """

    swept: tuple[Swept, ...] = ()
    position: Position | None = None


@dataclass(frozen=True, order=True)
class Place:
    """How far a sweep is: after a record; after all of a scope where none is named."""

    scope: uuid.UUID
    sequence: int = 2**63 - 1
    id: uuid.UUID = LAST

    @classmethod
    def of(cls, cursor: Mapping[str, Any]) -> Place:
        """Return the place in a run's cursor; the first where it has none."""
        if "scope" not in cursor:
            return cls(FIRST)
        scope, record_id = uuid.UUID(cursor["scope"]), uuid.UUID(cursor["id"])
        return cls(scope, cursor["sequence"], record_id)

    def as_cursor(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return {
            "scope": str(self.scope),
            "sequence": self.sequence,
            "id": str(self.id),
        }


class PolicyChanged(Conflict):
    """The policy was changed, switched off or taken away meanwhile."""


@dataclass(frozen=True)
class Work:
    """One sweep under way.

    Args:
        end: When to stop, by ``time.monotonic``; None: when all is done.
    """

    using: str
    policy: RetentionPolicy
    run: Run
    actor: Actor
    batch: int
    end: float | None

    @property
    def began_at(self) -> dt.datetime:
        """The moment that the rules are judged by, however long it takes."""
        return dt.datetime.fromisoformat(self.run.cursor["at"])

    @property
    def is_late(self) -> bool:
        return self.end is not None and time.monotonic() >= self.end


def sweep_all(
    *,
    using: str,
    tenants: Iterable[str],
    actor: Actor,
    batch: int,
    max_seconds: float | None = None,
    after: Position | None = None,
) -> Pass:
    """Apply every policy in force of these tenants, one after the other.

    Stops as soon as another process takes one up: that one does the rest.

    Args:
        tenants: In the order of their names.
        batch: Records of one transaction.
        max_seconds: After it, no further page is begun.
        after: Where the call before had to stop.

    Raises:
        Conflict: Others keep rows locked; the run says so and can be resumed.
    """
    end = None if max_seconds is None else time.monotonic() + max_seconds
    swept: list[Swept] = []
    position = after
    for tenant in tenants:
        if after is not None and tenant < after[0]:
            continue
        for policy in enabled_policies(using=using, tenant=tenant):
            if after is not None and (tenant, policy.id) <= after:
                continue
            if swept and end is not None and time.monotonic() >= end:
                return Pass(tuple(swept), position)
            one = sweep(using=using, policy=policy, actor=actor, batch=batch, end=end)
            swept.append(one)
            if one.ended == "unfinished":
                return Pass(tuple(swept), position or ("", FIRST))
            if one.ended == "elsewhere":
                return Pass(tuple(swept))
            position = (tenant, policy.id)
    return Pass(tuple(swept))


def sweep(
    *,
    using: str,
    policy: RetentionPolicy,
    actor: Actor,
    batch: int,
    end: float | None = None,
) -> Swept:
    """Apply one policy to all scopes of its tenant; a sweep that was cut goes on.

    What falls due once it began is for the next.

    Args:
        end: When to stop, by ``time.monotonic``.

    Raises:
        Conflict: Others keep rows locked; the run says so and can be resumed.
    """
    with acting_for(policy.tenant):
        return _sweep(using, policy, actor, batch, end)


def _sweep(
    using: str,
    policy: RetentionPolicy,
    actor: Actor,
    batch: int,
    end: float | None,
) -> Swept:
    told = partial(Swept, policy.tenant, policy.id)
    at = timezone.now()
    try:
        run = runs.begin(
            using=using,
            tenant=policy.tenant,
            kind=KIND,
            target=str(policy.id),
            actor=actor,
            at=at,
        )
    except Conflict:
        return told(None, "elsewhere")
    run.cursor = {"at": at.isoformat()} | run.cursor
    work = Work(using, policy, run, actor, batch, end)
    try:
        ended = _pages(work)
    except runs.TakenOver:
        return told(run.id, "elsewhere")
    return told(run.id, ended, dict(run.counts))


def _pages(work: Work) -> Ended:
    finish = partial(runs.finish, work.run, using=work.using)
    try:
        while not _page(work):
            if work.is_late:
                return "unfinished"
    except PolicyChanged as error:
        _begin_anew(work)
        finish(state=RunState.CANCELLED, at=timezone.now(), error=str(error))
        return "changed"
    except runs.TakenOver:
        raise
    except Conflict as error:
        finish(state=RunState.FAILED, at=timezone.now(), error=str(error))
        raise
    finish(state=RunState.DONE, at=timezone.now())
    return "done"


def _begin_anew(work: Work) -> None:
    """Forget how far it was: the rules that come next have looked at nothing yet."""
    at = timezone.now()
    with suppress(runs.TakenOver):
        runs.advance(
            work.run, using=work.using, cursor={}, counts=work.run.counts, at=at
        )


def _page(work: Work) -> bool:
    """Do the next page; return whether it was the last."""
    place = Place.of(work.run.cursor)
    given = parameters(rules_of(work.policy), work.policy.tenant, work.began_at)
    given |= {**vars(place), "scopes": SCOPES, "rows": min(work.batch, BATCH)}
    scopes = [row["id"] for row in ask(work.using, "scopes", given)]
    found = ask(work.using, "due", given | {"scope_ids": scopes}) if scopes else []
    full = len(found) == given["rows"]
    if full:
        last = found[-1]
        after = Place(last["scope_id"], last["sequence"], last["id"])
    else:
        after = Place(scopes[-1] if scopes else LAST)
    passed = sum(place < Place(scope) <= after for scope in scopes)
    counts = {"deleted": 0, "kept": 0, "scopes": 0, **work.run.counts}
    counts["scopes"] += passed
    due = Due(
        [row["id"] for row in found],
        [row["sequence"] for row in found],
        [row["over"] for row in found],
    )
    patiently(work.using, partial(_step, work, given, due, after, counts))
    return not full and len(scopes) < SCOPES


def _step(
    work: Work, given: dict[str, Any], due: Due, after: Place, counts: dict[str, int]
) -> None:
    at = timezone.now()
    own: dict[str, Any] = {"using": work.using, "actor": work.actor, "at": at}
    tenant = work.policy.tenant
    if due:
        hold_lineage(using=work.using, tenant=tenant, alone=True)
    _require_unchanged(work)
    gone = remove_due(given=given, due=due, **own) if due else Gone()
    runs.advance(
        work.run,
        using=work.using,
        cursor=after.as_cursor() | {"at": work.run.cursor["at"]},
        counts=counts
        | {
            "deleted": counts["deleted"] + gone.deleted,
            "kept": counts["kept"] + gone.kept,
        },
        at=at,
    )
    if gone.deleted:
        audit.record(
            tenant=tenant,
            action="retention.sweep",
            target=f"policy:{work.policy.id}",
            detail=vars(gone) | {"run": str(work.run.id)},
            **own,
        )


def _require_unchanged(work: Work) -> None:
    """Keep the policy as it is until this step ends: who switches it off waits.

    Raises:
        PolicyChanged: It is not what this sweep began with.
    """
    policy = work.policy
    rows = RetentionPolicy.objects.using(work.using).select_for_update(no_key=True)
    same = rows.filter(
        tenant=policy.tenant,
        id=policy.id,
        enabled=True,
        changed_at=policy.changed_at,
    )
    if same.first() is None:
        raise PolicyChanged


@for_tenant
def list_runs(*, using: str, scope: Scope, limit: int) -> list[Run]:
    """Return the tenant's sweeps, the latest first. One query.

    Raises:
        ScopeDenied: The scope is below the tenant.
    """
    require_tenant(scope)
    rows = Run.objects.using(using).filter(tenant=scope.tenant, kind=KIND)
    return list(rows.order_by("-started_at", "-id")[:limit])


@for_tenant
def get_run(*, using: str, scope: Scope, run_id: uuid.UUID) -> Run:
    """Return one of the tenant's sweeps. One query.

    Raises:
        ScopeDenied: The scope is below the tenant.
        NotVisible: The tenant has no such sweep.
    """
    require_tenant(scope)
    rows = Run.objects.using(using).filter(tenant=scope.tenant, kind=KIND)
    run = rows.filter(id=run_id).first()
    if run is None:
        raise NotVisible
    return run
