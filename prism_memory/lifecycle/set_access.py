"""Say who may read documents, and tell it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from django.db import transaction

from prism_memory import audit
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid, LimitExceeded, NotVisible
from prism_memory.types import (
    ACCESS_GRANTS_AT_MOST,
    AccessGrant,
    Actor,
    Scope,
    check_name,
    check_part,
    uuid7,
)

Wanted = Mapping[str, Sequence[AccessGrant]]
"""By the key of a source, who may read it; nobody where there is none."""

Given = (
    Mapping[str, Collection[AccessGrant]]
    | Iterable[tuple[str, Collection[AccessGrant]]]
)

FILE: Final = "source_access"


@for_tenant
def set_access(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    grants: Given,
    at: dt.datetime,
    reason: str = "",
) -> None:
    """Let exactly these principals and groups read sources of exactly ``scope``.

    What was granted before is replaced, source by source; no grants revoke all. The
    first time, a source becomes restricted: nobody reads it without a grant from then
    on, nor what was derived from it. All of it, or nothing.

    Args:
        grants: By the key of a source; or pairs of both. 1,024 sources and 1,024 grants
            at most.
        reason: For the audit; no text content.

    Raises:
        Invalid: A source is named twice, or a grant given twice to one.
        LimitExceeded: More than 1,024.
        NotVisible: No such source in this scope.
    """
    wanted = check_grants(grants)
    if not wanted:
        return
    with transaction.atomic(using=using):
        ids = _lock(using, scope, wanted)
        changed = _replace(using, scope.tenant, ids, wanted)
        for key, source_id in ids.items():
            audit.record(
                using=using,
                tenant=scope.tenant,
                actor=actor,
                action="source.access",
                target=f"source:{source_id}",
                at=at,
                reason=reason,
                detail=_told(wanted[key]) | changed[source_id],
            )


def restrict(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    source_id: uuid.UUID,
    at: dt.datetime,
    reason: str = "",
) -> None:
    """Let nobody read a source of ``scope`` that is locked and open. Two queries.

    Inside the transaction of who locked it.
    """
    given = {"tenant": scope.tenant, "source_ids": [source_id]}
    queries.execute(using, named(FILE)["restrict"], given)
    audit.record(
        using=using,
        tenant=scope.tenant,
        actor=actor,
        action="source.access",
        target=f"source:{source_id}",
        at=at,
        reason=reason,
        detail=_told([]) | {"granted": 0, "revoked": 0},
    )


def check_grants(grants: Given) -> Wanted:
    """Return grants by source, if they may be set at once.

    Raises:
        Invalid: As ``set_access``.
        LimitExceeded: As ``set_access``.
    """
    pairs = list(grants.items() if isinstance(grants, Mapping) else grants)
    found: dict[str, Sequence[AccessGrant]] = {}
    for key, given in pairs:
        if check_name(key, "source") in found:
            message = "A source is named twice."
            raise Invalid(message, field="source")
        found[key] = _check_list(given)
    if max(len(found), sum(map(len, found.values()))) > ACCESS_GRANTS_AT_MOST:
        message = f"One call sets {ACCESS_GRANTS_AT_MOST} sources and grants at most."
        raise LimitExceeded(message, field="grants")
    return found


def _check_list(given: object) -> Sequence[AccessGrant]:
    if isinstance(given, str) or not isinstance(given, Collection):
        message = "The grants of a source must be a collection."
        raise Invalid(message, field="grants")
    grants = [_check_grant(one) for one in given]
    if len({(one.principal, one.group) for one in grants}) < len(grants):
        message = "A grant is given twice."
        raise Invalid(message, field="grants")
    return grants


def _check_grant(one: object) -> AccessGrant:
    found = check_part(one, AccessGrant, "grants")
    if found is None:
        message = "A grant must be an AccessGrant."
        raise Invalid(message, field="grants")
    return found


def _lock(using: str, scope: Scope, wanted: Wanted) -> dict[str, uuid.UUID]:
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "keys": list(wanted),
    }
    rows = queries.fetch(using, named(FILE)["lock"], given)
    if len(rows) < len(wanted):
        raise NotVisible(field="source")
    return {row["key"]: row["id"] for row in rows}


def _replace(
    using: str, tenant: str, ids: Mapping[str, uuid.UUID], wanted: Wanted
) -> Mapping[uuid.UUID, dict[str, int]]:
    """Write the grants; return how many are new and gone, by source."""
    every = [(ids[key], one) for key, grants in wanted.items() for one in grants]
    given: dict[str, Any] = {
        "tenant": tenant,
        "source_ids": list(ids.values()),
        "ids": [uuid7() for _ in every],
        "of": [source_id for source_id, _ in every],
        "principals": [one.principal for _, one in every],
        "groups": [one.group for _, one in every],
        "versions": [one.access_version for _, one in every],
    }
    sql = named(FILE)
    revoked = Counter(
        r["source_id"] for r in queries.fetch(using, sql["revoke"], given)
    )
    granted = Counter(r["source_id"] for r in queries.fetch(using, sql["grant"], given))
    queries.execute(using, sql["restrict"], given)
    return {i: {"granted": granted[i], "revoked": revoked[i]} for i in ids.values()}


def _told(grants: Sequence[AccessGrant]) -> dict[str, Any]:
    """Return what the audit keeps: counts, for a principal may be a person's name."""
    return {
        "principals": sum(bool(one.principal) for one in grants),
        "groups": sum(bool(one.group) for one in grants),
        "versions": sorted({one.access_version for one in grants}),
    }
