"""Let a thread recall some records of another, and take that back."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from psycopg import sql

from prism_memory import audit
from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Invalid, LimitExceeded, NotVisible, ScopeDenied
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import (
    SHARED_AT_MOST,
    Actor,
    Authorization,
    ReadMode,
    Scope,
    check_time,
    check_uuid,
    uuid7,
)


def share_with(  # noqa: PLR0913 - keywords, most of them optional
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    child: Scope,
    ids: Collection[uuid.UUID | str],
    at: dt.datetime,
    expires_at: dt.datetime | None = None,
    strict: bool = False,
    authorization: Authorization | None = None,
    reason: str = "",
) -> None:
    """Let exactly ``child`` recall exactly these records of exactly ``scope``.

    What was shared with the child before is replaced, and so is the expiry. No ids:
    as ``revoke_share``.

    Args:
        child: Another thread of the same owner.
        ids: 32 at most.
        expires_at: From then on nothing is shared; None: never. Aware.
        strict: Only what was consented to is in sight.
        authorization: As whom the caller sees restricted documents.
        reason: For the audit; no text content.

    Raises:
        ScopeDenied: One of the two is no thread, or another owner's.
        Invalid: Both are one thread, or the expiry is naive or past.
        LimitExceeded: More than 32 ids.
        NotVisible: An id is no record of this thread that is in sight there.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    check_threads(scope, child)
    wanted = check_ids(ids)
    ends = check_expiry(expires_at, at)
    if not wanted:
        given: dict[str, Any] = {"scope": scope, "child": child, "at": at}
        revoke_share(using=using, actor=actor, reason=reason, **given)
        return
    reader = Reader(
        scope, ReadMode.EXACT, strict=strict, at=at, authorization=authorization
    )
    with transaction.atomic(using=using):
        # Nobody blocks or deletes a record between the look at it and the commit.
        hold_lineage(using=using, tenant=scope.tenant)
        for place in sorted((scope, child), key=lambda place: place.id):
            ensure_scope(using=using, scope=place, at=at)
        grant_id = _grant(using, scope, child, actor, ends, at)
        _hold_shareable(using, reader, wanted)
        _replace(using, scope.tenant, grant_id, wanted)
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="memory.share",
            target=f"sharegrant:{grant_id}",
            at=at,
            reason=reason,
            detail={
                **_threads(scope, child),
                "record_ids": list(map(str, wanted)),
                "expires_at": ends and ends.isoformat(),
            },
        )


def revoke_share(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    child: Scope,
    at: dt.datetime,
    reason: str = "",
) -> bool:
    """Let ``child`` recall nothing of ``scope`` any more; tell whether it could.

    Raises:
        ScopeDenied: One of the two is no thread, or another owner's.
        Invalid: Both are one thread.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    check_threads(scope, child)
    given = {"tenant": scope.tenant, "parent_id": scope.id, "child_id": child.id}
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        revoked = queries.fetch(using, named("share")["revoke"], given)
        for row in revoked:
            audit.record(
                using=using,
                tenant=scope.tenant,
                actor=actor,
                action="memory.unshare",
                target=f"sharegrant:{row['id']}",
                at=at,
                reason=reason,
                detail=_threads(scope, child),
            )
    return bool(revoked)


def check_threads(parent: Scope, child: Scope) -> None:
    """Check that both are threads of one owner, and not the same.

    Raises:
        ScopeDenied: They are not of one owner, or one is no thread.
        Invalid: They are one thread.
    """
    if not parent.thread or not child.thread:
        message = "Only a thread shares, and only with a thread."
        raise ScopeDenied(message, field="child")
    if (parent.tenant, parent.owner) != (child.tenant, child.owner):
        message = "A thread shares with threads of its own owner only."
        raise ScopeDenied(message, field="child")
    if parent == child:
        message = "A thread does not share with itself."
        raise Invalid(message, field="child")


def check_ids(ids: object) -> list[uuid.UUID]:
    """Return the ids, each once, in their order.

    Raises:
        Invalid: No collection, or one holds what is no id.
        LimitExceeded: More than 32.
    """
    if isinstance(ids, str) or not isinstance(ids, Collection):
        message = "ids must be a collection."
        raise Invalid(message, field="ids")
    if len(ids) > SHARED_AT_MOST:
        message = f"A share holds at most {SHARED_AT_MOST} records."
        raise LimitExceeded(message, field="ids")
    return list(dict.fromkeys(check_uuid(record_id, "ids") for record_id in ids))


def check_expiry(expires_at: object, at: dt.datetime) -> dt.datetime | None:
    """Return the moment from which nothing is shared.

    Raises:
        Invalid: Naive, no time, or not in the future.
    """
    ends = check_time(expires_at, "expires_at")
    if ends is not None and ends <= at:
        message = "expires_at must be in the future."
        raise Invalid(message, field="expires_at")
    return ends


def _threads(parent: Scope, child: Scope) -> dict[str, str]:
    return {"parent": str(parent.id), "child": str(child.id)}


def _grant(
    using: str,
    parent: Scope,
    child: Scope,
    actor: Actor,
    expires_at: dt.datetime | None,
    at: dt.datetime,
) -> uuid.UUID:
    given = {
        "tenant": parent.tenant,
        "id": uuid7(),
        "owner": parent.owner,
        "parent_id": parent.id,
        "child_id": child.id,
        "expires_at": expires_at,
        "actor": actor.name,
        "at": at,
    }
    (row,) = queries.fetch(using, named("share")["grant"], given)
    grant_id: uuid.UUID = row["id"]
    return grant_id


def _hold_shareable(using: str, reader: Reader, ids: Sequence[uuid.UUID]) -> None:
    """Hold the records until the transaction ends.

    Raises:
        NotVisible: One is not there, or not in sight.
    """
    rule = sql.SQL(reader.condition().as_string(None))
    statement = composed("share", "hold_shareable", visible=rule)
    given = {**reader.parameters(), "shared_ids": list(ids)}
    found = {row["id"] for row in queries.fetch(using, statement, given)}
    if found != {*ids}:
        raise NotVisible(field="ids")


def _replace(
    using: str, tenant: str, grant_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> None:
    given = {"tenant": tenant, "grant_id": grant_id, "shared_ids": list(ids)}
    queries.execute(using, named("share")["clear_items"], given)
    queries.execute(using, named("share")["insert_items"], given)
