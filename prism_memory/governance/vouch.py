"""Vouch for records that somebody looked at, whatever their signatures say."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid, NotVisible
from prism_memory.governance.signing import no_key
from prism_memory.integrity import keyring, write
from prism_memory.integrity.checking import statement
from prism_memory.types import Actor, record_ref


@for_tenant
def vouch(
    *,
    using: str,
    tenant: str,
    record_ids: Collection[uuid.UUID],
    actor: Actor,
    at: dt.datetime,
    reason: str,
) -> int:
    """Sign records as they are now, whatever their signatures say; return how many.

    For who looked at each, after an edit or a restore: readers get them again. All or
    none; each is an event with what its signature said before.

    Args:
        reason: Why they are believed, for the audit; not blank, and no text content.

    Raises:
        Misconfigured: There is no key.
        Invalid: The reason is blank.
        NotVisible: One of them is not there.
    """
    keys = keyring()
    if keys is None:
        raise no_key()
    if not reason.strip():
        message = "To vouch for a record needs a reason."
        raise Invalid(message, field="reason")
    wanted = sorted(set(record_ids))
    with transaction.atomic(using=using):
        given = {"tenant": tenant, "record_ids": wanted}
        rows = queries.fetch(using, statement("locked"), given)
        if len(rows) != len(wanted):
            raise NotVisible
        for row in rows:
            state = keys.state_of_record(tenant, row)
            audit.record(
                using=using,
                tenant=tenant,
                actor=actor,
                action="integrity.vouch",
                target=record_ref(row["id"]),
                at=at,
                reason=reason,
                detail={"was": str(state), "version": row["version"]},
            )
        return write(using, tenant, keys, rows)
