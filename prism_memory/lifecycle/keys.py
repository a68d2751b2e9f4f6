"""Keys of the HTTP API: made, checked, revoked.

A token is ``pm_<id>_<secret>``. The secret holds 256 random bits and is shown once;
its SHA-256 is stored.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import secrets
import uuid
from collections.abc import Collection
from typing import Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict, Invalid, NotVisible
from prism_memory.models import AccessKey
from prism_memory.types import (
    Actor,
    Authorization,
    Grant,
    Open,
    Origin,
    Permission,
    Scope,
    Trust,
    check_choice,
    check_groups,
    check_name,
    check_time,
)

PREFIX: Final = "pm"
SECRET_BYTES: Final = 32
USED_EVERY: Final = dt.timedelta(minutes=1)
"""How exact last_used_at is: a write per request would be a lock per request."""


def create_key(  # noqa: PLR0913 - keywords, most of them optional
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    label: str,
    permissions: Collection[Permission],
    at: dt.datetime,
    trust: Trust = Trust.AGENT,
    expires_at: dt.datetime | None = None,
    principal: str = "",
    groups: Collection[str] = (),
) -> tuple[AccessKey, str]:
    """Make a key and return it with its token, which is not stored.

    Args:
        scope: What it opens, with all below.
        label: For people to recognise it by.
        trust: Trust class of what is written with it.
        principal: As whom it reads restricted documents; empty: it reads none.
        groups: Theirs, 32 at most.

    Raises:
        Invalid: No label, no permission, an expiry that is past, or groups of nobody.
        LimitExceeded: More than 32 groups.
    """
    check_name(label, "label")
    allowed = sorted({check_choice(p, Permission, "permissions") for p in permissions})
    if not allowed:
        message = "A key needs a permission."
        raise Invalid(message, field="permissions")
    expires_at = check_time(expires_at, "expires_at")
    if expires_at is not None and expires_at <= at:
        message = "expires_at must be in the future."
        raise Invalid(message, field="expires_at")
    theirs = check_groups(groups)
    if theirs and not check_name(principal, "principal", blank=True):
        message = "Groups are a principal's."
        raise Invalid(message, field="principal")
    secret = secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic(using=using):
        key = AccessKey.objects.using(using).create(
            label=label,
            sha256=hashlib.sha256(secret.encode()).digest(),
            tenant=scope.tenant,
            owner=scope.owner,
            agent=scope.agent,
            thread=scope.thread,
            trust=check_choice(trust, Trust, "trust"),
            permissions=[permission.value for permission in allowed],
            expires_at=expires_at,
            principal=check_name(principal, "principal", blank=True),
            groups=list(theirs),
        )
        _record(using, key, actor, "key.create", at)
    return key, f"{PREFIX}_{key.id.hex}_{secret}"


def revoke_key(*, using: str, key_id: uuid.UUID, actor: Actor, at: dt.datetime) -> None:
    """End a key at once.

    Raises:
        NotVisible: No such key.
        Conflict: It was revoked before.
    """
    with transaction.atomic(using=using):
        rows = AccessKey.objects.using(using).select_for_update()
        key = rows.filter(id=key_id).first()
        if key is None:
            raise NotVisible
        if key.revoked_at is not None:
            message = "The key was revoked before."
            raise Conflict(message)
        AccessKey.objects.using(using).filter(id=key_id).update(revoked_at=at)
        _record(using, key, actor, "key.revoke", at)


def authenticate(*, using: str, token: str, at: dt.datetime) -> Grant | None:
    """Return what a token opens, or None for one that opens nothing.

    One query; a second one once a minute, to note the use. It waits for no lock.
    """
    key_id, secret = _parts(token)
    if key_id is None:
        return None
    key = AccessKey.objects.using(using).filter(id=key_id).first()
    stored = bytes(key.sha256) if key else bytes(32)
    given = hashlib.sha256(secret.encode()).digest()
    if not hmac.compare_digest(stored, given) or key is None or not _open(key, at):
        return None
    _note_use(using, key, at)
    return Grant(
        scope=key.scope,
        permissions=frozenset(Permission(value) for value in key.permissions),
        origin=Origin(Trust(key.trust), f"key:{key.id}"),
        actor=Actor(f"key:{key.id}"),
        authorization=_authorization(key),
    )


def _authorization(key: AccessKey) -> Authorization | None:
    """Return as whom a key reads restricted documents, beside all that it opens."""
    if not key.principal:
        return None
    return Authorization(key.principal, tuple(key.groups), open=Open.ALLOW)


def _parts(token: str) -> tuple[uuid.UUID | None, str]:
    prefix, _, rest = token.partition("_")
    name, _, secret = rest.partition("_")
    if prefix != PREFIX or not token.isascii():
        return None, ""
    try:
        return uuid.UUID(hex=name), secret
    except ValueError:
        return None, ""


def _open(key: AccessKey, at: dt.datetime) -> bool:
    ended = key.expires_at is not None and key.expires_at <= at
    return key.revoked_at is None and not ended


def _note_use(using: str, key: AccessKey, at: dt.datetime) -> None:
    before = at - USED_EVERY
    if key.last_used_at is not None and key.last_used_at > before:
        return
    given = {"tenant": key.tenant, "key_id": key.id, "before": before, "at": at}
    queries.execute(using, named("keys")["note_use"], given)


def _record(
    using: str, key: AccessKey, actor: Actor, action: str, at: dt.datetime
) -> None:
    audit.record(
        using=using,
        tenant=key.tenant,
        actor=actor,
        action=action,
        target=f"key:{key.id}",
        at=at,
        detail={"permissions": key.permissions, "scope": str(key.scope.id)},
    )
