"""End a run before its work is done."""

from __future__ import annotations

import datetime as dt
import uuid

from django.db import transaction

from prism_memory import audit, runs
from prism_memory.db.tenancy import for_tenant
from prism_memory.governance.running.listing import require_tenant, status
from prism_memory.types import Actor, RunStatus, Scope


@for_tenant
def cancel_run(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    run_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> RunStatus:
    """End a run that runs or is to be tried again.

    Who works on it stops at its next step. What is done stays done, and
    ``retry_run`` goes on from there. Audited.

    Args:
        reason: For the audit; no text content.

    Raises:
        ScopeDenied: The scope is below the tenant.
        NotVisible: The tenant has no such run.
        Conflict: It has ended.
    """
    require_tenant(scope)
    with transaction.atomic(using=using):
        run = runs.cancel(using=using, tenant=scope.tenant, run_id=run_id, at=at)
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="run.cancel",
            target=f"run:{run.id}",
            at=at,
            reason=reason,
            detail={"kind": run.kind, "target": run.target},
        )
    return status(run)
