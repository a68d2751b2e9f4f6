"""Let a run that ended badly go on."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit, runs
from prism_memory.db.tenancy import for_tenant
from prism_memory.governance.running.listing import require_tenant, status
from prism_memory.types import Actor, RunStatus, Scope


@for_tenant
def retry_run(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    run_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> RunStatus:
    """Let a worker go on with a run that failed, was cancelled, or lost its worker.

    It has all its tries again. A worker is told after the commit. Audited.

    Args:
        reason: For the audit; no text content.

    Raises:
        ScopeDenied: The scope is below the tenant.
        NotVisible: The tenant has no such run.
        Conflict: It is done, somebody works on it, or no worker goes on with its kind.
    """
    require_tenant(scope)
    with transaction.atomic(using=using):
        run = runs.retry(using=using, tenant=scope.tenant, run_id=run_id, at=at)
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="run.retry",
            target=f"run:{run.id}",
            at=at,
            reason=reason,
            detail={"kind": run.kind, "target": run.target},
        )
        runs.announce(run, using=using)
    return status(run)
