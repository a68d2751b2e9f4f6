"""Whether a verified caller may act upon a scope, and upon the documents in it."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from prism_memory.access import Reader, denied_sources, granted, granted_to
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.errors import NotVisible, ScopeDenied
from prism_memory.types import Grant, Permission, ReadMode, Scope

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
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "key": key,
        **granted_to(authorization=by.authorization),
    }
    rows = queries.fetch(
        using, composed("source_access", "closed", granted=granted()), given
    )
    if not rows:
        raise NotVisible(field=field)
    if rows[0]["closed"]:
        raise ScopeDenied(CLOSED, field=field)
    found: uuid.UUID = rows[0]["id"]
    return found


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
