"""Let a source go by another key. Its id stays, and so does all that names it."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from django.db import IntegrityError, transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict, Invalid, NotVisible
from prism_memory.lifecycle.forget_thread import lock_sources
from prism_memory.lifecycle.granted import check_grant, require_granted
from prism_memory.models import Source
from prism_memory.types import Grant, Repointed, Scope, check_name

FILE: Final = "source_access"


@for_tenant
def repoint(
    *,
    using: str,
    scope: Scope,
    by: Grant,
    from_key: str,
    to_key: str,
    at: dt.datetime,
    reason: str = "",
) -> Repointed:
    """Give a source of exactly ``scope`` another key: nothing is embedded anew.

    Records, citations, lineage, grants and holds hang on its id, so all of them move at
    once. All of it, or nothing.

    Args:
        by: Who the host has verified; refused before a transaction is opened.
        reason: For the audit; no text content.

    Raises:
        ScopeDenied: The grant does not open the scope, or the source is restricted and
            not granted to its authorization.
        PermissionDenied: It does not govern.
        Invalid: A key cannot be stored, or both are one.
        NotVisible: No such source in the scope.
        Conflict: Another source has the key.
    """
    check_grant(by, scope)
    if check_name(from_key, "from_key") == check_name(to_key, "to_key"):
        message = "Both keys are one."
        raise Invalid(message, field="to_key")
    require_granted(using=using, scope=scope, key=from_key, by=by, field="from_key")
    _require_free(using, scope, to_key)
    try:
        with transaction.atomic(using=using):
            return _moved(using, scope, by, from_key, to_key, at, reason)
    except IntegrityError as error:
        raise _taken() from error


def _moved(
    using: str,
    scope: Scope,
    by: Grant,
    from_key: str,
    to_key: str,
    at: dt.datetime,
    reason: str,
) -> Repointed:
    asked: dict[str, Any] = {"using": using, "scope": scope, "key": from_key, "by": by}
    source_id = require_granted(**asked, field="from_key")
    lock_sources(using=using, tenant=scope.tenant, ids=[source_id])
    # It may have been moved, deleted or taken away while the lock was waited for.
    if require_granted(**asked, field="from_key") != source_id:
        raise NotVisible(field="from_key")
    given = {"tenant": scope.tenant, "source_id": source_id, "to_key": to_key}
    queries.execute(using, named(FILE)["move"], given)
    (counted,) = queries.fetch(using, named(FILE)["cited"], given)
    audit.record(
        using=using,
        tenant=scope.tenant,
        actor=by.actor,
        action="source.repoint",
        target=f"source:{source_id}",
        at=at,
        reason=reason,
        detail={"records": counted["records"]},
    )
    return Repointed(counted["records"])


def _require_free(using: str, scope: Scope, key: str) -> None:
    rows = Source.objects.using(using).filter(tenant=scope.tenant, scope_id=scope.id)
    if rows.filter(key=key).exists():
        raise _taken()


def _taken() -> Conflict:
    message = "Another source has that key."
    return Conflict(message, field="to_key")
