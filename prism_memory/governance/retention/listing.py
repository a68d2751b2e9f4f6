"""The sweeps that were, and the one under way."""

from __future__ import annotations

import uuid
from typing import Final

from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.governance.retention.policies import require_tenant
from prism_memory.models import Run
from prism_memory.types import Scope

KIND: Final = "retention"
"""Of their runs; the target of each is its policy."""


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
