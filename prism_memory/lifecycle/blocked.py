"""List what is kept and what is blocked: page by page, to the last. No text."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid
from prism_memory.models import Tombstone
from prism_memory.types import (
    NIL,
    Held,
    HoldLevel,
    HoldPage,
    HoldWhere,
    RefPage,
    Scope,
    Stone,
    StonePage,
    TombstoneReason,
    check_text,
    check_uuid,
)


def holds(*, using: str, scope: Scope, rows: int, cursor: str | None) -> HoldPage:
    """Return the holds in force on ``scope``, above it, below it, or on what is there.

    Of the scopes above, those on all of them; what is in them is not seen from here.
    The oldest first. One query.

    Raises:
        Invalid: The cursor is none of this list.
    """
    chain = tuple(scope.chain())
    given = {
        "tenant": scope.tenant,
        "owner": scope.owner,
        "agent": scope.agent,
        "thread": scope.thread,
        "owners": [place.owner for place in chain],
        "agents": [place.agent for place in chain],
        "threads": [place.thread for place in chain],
        "after": NIL if cursor is None else check_uuid(cursor, "cursor"),
        "rows": rows + 1,
    }
    found = queries.fetch(using, named("removal")["holds_in_force"], given)
    page = [_held(scope, row) for row in found[:rows]]
    more = len(found) > rows
    return HoldPage(tuple(page), str(page[-1].id) if more else None)


def _held(scope: Scope, row: Mapping[str, Any]) -> Held:
    names = (row["owner"], row["agent"], row["thread"])
    place = None if None in names else Scope(scope.tenant, *names)
    where = HoldWhere.HERE
    if place != scope:
        above = place is not None and place.opens(scope)
        where = HoldWhere.ABOVE if above else HoldWhere.BELOW
    return Held(
        id=row["id"],
        level=HoldLevel(row["level"]),
        target_ref=row["target_ref"],
        matter=row["matter"],
        placed_at=row["placed_at"],
        new=False,
        scope=place,
        where=where,
    )


def blocked_refs(
    *, using: str, scopes: Sequence[Scope], rows: int, cursor: str | None
) -> RefPage:
    """Return the refs of ``scopes`` that may not be used, but for what was corrected.

    One query.

    Args:
        scopes: Of one tenant.

    Raises:
        Invalid: The cursor cannot be one.
    """
    given = {
        "tenant": scopes[0].tenant,
        "scope_ids": [scope.id for scope in scopes],
        "after": "" if cursor is None else check_text(cursor, "cursor"),
        "rows": rows + 1,
    }
    found = queries.fetch(using, named("lineage")["blocked_refs"], given)
    refs = [row["target_ref"] for row in found]
    return RefPage(tuple(refs[:rows]), refs[rows - 1] if len(refs) > rows else None)


@for_tenant
def tombstones(*, using: str, scope: Scope, rows: int, cursor: str | None) -> StonePage:
    """Return what is blocked in exactly ``scope`` and why, by ref. One query, or two.

    Raises:
        Invalid: The cursor is none of this list.
    """
    after = ("", NIL) if cursor is None else _place_of(using, scope, cursor)
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "after_ref": after[0],
        "after_id": after[1],
        "rows": rows + 1,
    }
    found = queries.fetch(using, named("lineage")["stones"], given)
    page = [
        Stone(**{**row, "reason": TombstoneReason(row["reason"])})
        for row in found[:rows]
    ]
    return StonePage(tuple(page), str(page[-1].id) if len(found) > rows else None)


def _place_of(using: str, scope: Scope, cursor: str) -> tuple[str, uuid.UUID]:
    # One that was lifted meanwhile still marks its place.
    rows = Tombstone.objects.using(using).filter(
        tenant=scope.tenant, scope_id=scope.id, id=check_uuid(cursor, "cursor")
    )
    last = rows.first()
    if last is None:
        message = "The cursor is not one of this list."
        raise Invalid(message, field="cursor")
    return last.target_ref, last.id
