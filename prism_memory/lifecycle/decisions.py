"""How the consent for a record came about: each decision is noted and never changed."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection

from django.db.models import Q

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid
from prism_memory.lifecycle.governed import find_governed
from prism_memory.models import ConsentGrant
from prism_memory.types import (
    Actor,
    ConsentDecision,
    ConsentHistory,
    ConsentScope,
    ConsentSource,
    Scope,
    check_uuid,
    uuid7,
)


def note_decisions(
    *,
    using: str,
    tenant: str,
    actor: Actor,
    record_ids: Collection[uuid.UUID],
    at: dt.datetime,
) -> None:
    """Note the consent of records as it stands now. One query.

    In the transaction of the change, whose rows are locked.
    """
    given = {
        "tenant": tenant,
        "actor": actor.name,
        "ids": [uuid7() for _ in record_ids],
        "record_ids": list(record_ids),
        "at": at,
    }
    queries.execute(using, named("consent")["note_decisions"], given)


@for_tenant
def consent_history(
    *, using: str, scope: Scope, record_id: uuid.UUID, rows: int, cursor: str | None
) -> ConsentHistory:
    """Return decisions about a record of exactly ``scope``, the oldest first.

    Two queries, three with a cursor.

    Raises:
        NotVisible: No such record in this scope.
        Invalid: The cursor is none of this history.
    """
    record = find_governed(using=using, scope=scope, record_id=record_id)
    grants = ConsentGrant.objects.using(using).filter(
        tenant=scope.tenant, record=record.id
    )
    found = grants.order_by("at", "id")
    if cursor is not None:
        last = grants.filter(id=check_uuid(cursor, "cursor")).first()
        if last is None:
            message = "The cursor is not one of this history."
            raise Invalid(message, field="cursor")
        found = found.filter(Q(at__gt=last.at) | Q(at=last.at, id__gt=last.id))
    page = [_decision(grant) for grant in found[: rows + 1]]
    more = len(page) > rows
    return ConsentHistory(tuple(page[:rows]), str(page[rows - 1].id) if more else None)


def _decision(grant: ConsentGrant) -> ConsentDecision:
    return ConsentDecision(
        id=grant.id,
        source=ConsentSource(grant.source) if grant.source else None,
        label=ConsentScope(grant.label) if grant.label else None,
        visible=grant.visible,
        granted_at=grant.granted_at,
        revoked_at=grant.revoked_at,
        actor=grant.actor,
        at=grant.at,
    )
