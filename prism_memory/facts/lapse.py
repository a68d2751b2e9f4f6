"""Let conflicts lapse that nobody settled in time: both facts stay."""

from __future__ import annotations

import datetime as dt

from django.db import transaction

from prism_memory import audit
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.lifecycle.reviews import decide_review
from prism_memory.types import Actor, ReviewDecision, ReviewWhy, record_ref


@for_tenant
def lapse_conflicts(
    *, using: str, tenant: str, actor: Actor, at: dt.datetime, rows: int
) -> int:
    """Admit what nobody settled in ``CONFLICT_DAYS``; return how many. Both stay."""
    given = {
        "tenant": tenant,
        "actor": actor.name,
        "at": at,
        "before": at - dt.timedelta(days=settings.CONFLICT_DAYS),
        "rows": rows,
    }
    with transaction.atomic(using=using):
        found = queries.fetch(using, named("conflicts")["lapse"], given)
        for row in sorted(found, key=lambda row: row["fact_id"]):
            decide_review(
                using=using,
                tenant=tenant,
                record_id=row["fact_id"],
                why=ReviewWhy.CONFLICT,
                decision=ReviewDecision.LAPSED,
                actor=actor,
                at=at,
            )
            audit.record(
                using=using,
                tenant=tenant,
                actor=actor,
                action="conflict.lapse",
                target=record_ref(row["fact_id"]),
                at=at,
                detail={"decision": str(row["id"])},
            )
    return len(found)
