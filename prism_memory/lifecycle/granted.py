"""Whether a verified caller may act upon a scope, and upon the documents in it."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from prism_memory.access import Reader, denied_sources, granted, granted_to
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.errors import NotVisible, ScopeDenied
from prism_memory.types import Authorization, Grant, Permission, ReadMode, Scope

CLOSED = "The credentials do not open that source."


def check_grant(by: object, scope: Scope) -> None:
    """Do nothing if a verified caller may govern ``scope``.

    Raises:
        ScopeDenied: It is no grant, or one that does not open the scope.
        PermissionDenied: It does not govern.
    """
    if not isinstance(by, Grant) or not by.scope.opens(scope):
        message = "The credentials do not open that scope."
        raise ScopeDenied(message, field="by")
    by.require(Permission.GOVERN)


def require_granted(
    *, using: str, scope: Scope, key: str, by: Grant, field: str
) -> uuid.UUID:
    """Return the id of a source of exactly ``scope`` that ``by`` may act upon.

    One query.

    Raises:
        NotVisible: No such source.
        ScopeDenied: It is restricted and not granted to the authorization (B170).
    """
    row = _found(using, scope, key, by.authorization)
    if row is None:
        raise NotVisible(field=field)
    if row["closed"]:
        raise ScopeDenied(CLOSED, field=field)
    found: uuid.UUID = row["id"]
    return found


def require_readable(
    *, using: str, scope: Scope, key: str, authorization: Authorization | None
) -> None:
    """Do nothing unless a source of exactly ``scope`` is closed to who asks. One query.

    Raises:
        NotVisible: It is restricted and not granted.
    """
    row = _found(using, scope, key, authorization)
    if row is not None and row["closed"]:
        raise NotVisible(field="key")


def _found(
    using: str, scope: Scope, key: str, authorization: Authorization | None
) -> Mapping[str, Any] | None:
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "key": key,
        **granted_to(authorization=authorization),
    }
    statement = composed("source_access", "closed", granted=granted())
    return next(iter(queries.fetch(using, statement, given)), None)


def require_granted_ids(
    *, using: str, scope: Scope, ids: Collection[uuid.UUID], by: Grant
) -> None:
    """Do nothing if ``by`` may act upon what some records draw upon. One query.

    Raises:
        ScopeDenied: One draws upon a restricted source that is not granted.
    """
    reader = Reader(scope, ReadMode.EXACT, authorization=by.authorization)
    if denied_sources(using=using, reader=reader, ids=ids):
        raise ScopeDenied(CLOSED, field="ids")
