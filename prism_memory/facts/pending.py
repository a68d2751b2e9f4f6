"""Complete a supersede that waited, once its successor may replace the old fact."""

from __future__ import annotations

import datetime as dt

from prism_memory import access
from prism_memory.access import Reader
from prism_memory.facts.ending import close_old, may_replace
from prism_memory.facts.locking import Locked, lock_fact
from prism_memory.lifecycle.versions import instant
from prism_memory.models import Fact, FactVersion
from prism_memory.models.choices import GateState
from prism_memory.types import Actor, ReadMode, Scope


def lock_pair(*, using: str, scope: Scope, new: Locked) -> Locked | None:
    """Return the fact that another waits to replace, locked; None if it went."""
    waiting_for = new.fact.pending_supersedes
    if waiting_for is None:
        return None
    rows = Fact.objects.using(using).filter(tenant=scope.tenant, scope_id=scope.id)
    rows = rows.filter(id=waiting_for)
    if not rows.exists():
        return None
    return lock_fact(using=using, scope=scope, which=waiting_for)


def moment(*, using: str, tenant: str, new: Locked) -> dt.datetime:
    """Return an instant after all that a fact and what it waits for know. One query."""
    ids = filter(None, [new.fact.id, new.fact.pending_supersedes])
    return instant(using=using, tenant=tenant, fact_ids=list(ids))


def complete(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    new: Locked,
    version: FactVersion,
    at: dt.datetime,
    instant: dt.datetime,
    reason: str = "",
) -> bool:
    """Let a fact replace what it waits for, if it may now; tell whether it did.

    Args:
        new: Locked.
        version: Its open version as it stands now.
        instant: Of both, see ``moment``.
    """
    old = lock_pair(using=using, scope=scope, new=new)
    if old is None:
        _wait_no_more(using, new)
        return False
    if old.fact.closing or new.fact.closing or version.gate != GateState.OPEN:
        return False
    if not _is_in_sight(using, scope, new, at):
        return False  # else nothing would hold
    starts = version.valid_from
    if not may_replace(old, version.acceptance) or starts <= old.current.valid_from:
        return False
    close_old(
        using=using,
        old=old,
        new_id=new.fact.id,
        starts=starts,
        actor=actor,
        at=at,
        instant=instant,
        reason=reason,
    )
    rows = Fact.objects.using(using).filter(tenant=scope.tenant, id=new.fact.id)
    rows.update(supersedes=old.fact.id, pending_supersedes=None)
    return True


def _wait_no_more(using: str, new: Locked) -> None:
    """Forget what a fact waits for: that is gone."""
    if new.fact.pending_supersedes is not None:
        rows = Fact.objects.using(using).filter(tenant=new.fact.tenant, id=new.fact.id)
        rows.update(pending_supersedes=None)
        new.fact.pending_supersedes = None


def _is_in_sight(using: str, scope: Scope, new: Locked, at: dt.datetime) -> bool:
    """Tell whether readers get it: not where it is archived, or its evidence hidden."""
    reader = Reader(
        scope=scope,
        mode=ReadMode.EXACT,
        at=at,
        include_superseded=True,
        include_restricted=True,
    )
    return access.visible(using=using, reader=reader).filter(id=new.fact.id).exists()
