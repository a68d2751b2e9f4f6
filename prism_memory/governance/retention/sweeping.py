"""Sweeps: policies applied to all scopes of their tenants, page by page, as runs.

A page is one transaction: tombstones, bodies, the audit, and how far the run is. Who
is killed in between has done nothing of it, and who comes next goes on from there.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from django.utils import timezone

from prism_memory import runs
from prism_memory.db.tenancy import acting_for
from prism_memory.errors import Conflict
from prism_memory.governance.retention.listing import KIND
from prism_memory.governance.retention.page import PolicyChanged, Work, do_page
from prism_memory.governance.retention.policies import enabled_policies
from prism_memory.models import RetentionPolicy, Run
from prism_memory.models.choices import RunState
from prism_memory.types import NIL, Actor

RUN_SECONDS: Final = 10.0
"""A request sweeps so long at most; the next one, or beat, goes on from there."""

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
                return Pass(tuple(swept), position or ("", NIL))
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
    reason: str = "",
) -> Swept:
    """Apply one policy to all scopes of its tenant; a sweep that was cut goes on.

    What falls due once it began is for the next.

    Args:
        end: When to stop, by ``time.monotonic``.
        reason: For the audit of what goes; no text content.

    Raises:
        Conflict: Others keep rows locked; the run says so and can be resumed.
    """
    with acting_for(policy.tenant):
        return _sweep(using, policy, actor, batch, end, reason)


def _sweep(
    using: str,
    policy: RetentionPolicy,
    actor: Actor,
    batch: int,
    end: float | None,
    reason: str,
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
    try:
        with runs.failing(run, using=using):
            ended = work_on(
                using=using,
                policy=policy,
                run=run,
                actor=actor,
                batch=batch,
                end=end,
                reason=reason,
            )
    except runs.TakenOver:
        return told(run.id, "elsewhere")
    return told(run.id, ended, dict(run.counts))


def work_on(
    *,
    using: str,
    policy: RetentionPolicy,
    run: Run,
    actor: Actor,
    batch: int,
    end: float | None,
    reason: str = "",
) -> Ended:
    """Work on a run that this process holds, until its end or ``end``.

    Raises:
        TakenOver: Another process took it up, or it was cancelled.
        Conflict: Others keep rows locked; the run says so.
    """
    run.cursor = {"at": timezone.now().isoformat()} | run.cursor
    return _pages(Work(using, policy, run, actor, batch, end, reason))


def _pages(work: Work) -> Ended:
    finish = partial(runs.finish, work.run, using=work.using)
    try:
        while not do_page(work):
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
