"""What a parent thread shares with the reader's: found by a leg of its own.

The reader's own sight is never widened: a second reader stands at exactly the parent,
and the rule shows it only what a grant in force shares with the first.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from django.db.models import Q
from psycopg import sql

from prism_memory.access import Reader, changed
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Invalid, ScopeDenied
from prism_memory.models import ShareGrant, ShareGrantItem
from prism_memory.recall.asking import Asked
from prism_memory.recall.candidates import Found, text, vector
from prism_memory.recall.merging import merged
from prism_memory.types import (
    Hit,
    ReadMode,
    Scope,
    Share,
    SharePage,
    check_name,
    check_uuid,
)

OPTION: Final = "share_from_parent_thread_id"
DENIED: Final = "That thread shares nothing with this one."
EXPIRED: Final = "What that thread shares has expired."


def shared_reader(reader: Reader, parent: object) -> Reader | None:
    """Return who reads what ``parent`` shares with the reader's thread. No query.

    What narrows the reader narrows that too.

    Args:
        parent: Name of a thread beside the reader's, or its scope, or None.

    Raises:
        ScopeDenied: The reader stands in no thread, or the scope is no thread of
            their owner.
        Invalid: The name is none.
    """
    if parent is None:
        return None
    child = reader.scope
    if isinstance(parent, Scope):
        place = parent
    else:
        name = check_name(parent, OPTION)
        place = child.beside(name) if child.thread else child
    of_owner = (place.tenant, place.owner) == (child.tenant, child.owner)
    if not (child.thread and place.thread and of_owner):
        raise ScopeDenied(DENIED, field=OPTION)
    return replace(
        reader, scope=place, mode=ReadMode.EXACT, scopes=None, shared_with=child
    )


def check_share(using: str, reader: Reader) -> None:
    """Check that a grant in force shares something. One query.

    Args:
        reader: As ``shared_reader`` made them.

    Raises:
        ScopeDenied: There is no grant, or it is another's. All alike, so that nobody
            learns of a thread by asking.
        Invalid: It has expired.
    """
    parent, child = reader.scope, reader.shared_with
    assert child is not None  # noqa: S101 - that makes a reader of shares
    grants = ShareGrant.objects.using(using).filter(
        tenant=parent.tenant,
        owner=parent.owner,
        **_at("parent", parent),
        **_at("child", child),
    )
    found = list(grants.values_list("expires_at", flat=True))
    if not found:
        raise ScopeDenied(DENIED, field=OPTION)
    if found[0] is not None and found[0] <= reader.at:
        raise Invalid(EXPIRED, field=OPTION)


def with_shared(
    *, using: str, reader: Reader, asked: Asked, found: Found, rows: int
) -> Found:
    """Return what was found with what is shared, in the places of both. One query.

    Whether it may be seen is decided anew, by the same rule as everything.

    Args:
        reader: As ``shared_reader`` made them.
        found: The reader's own, with what its words weigh.
        rows: Candidates wanted of each leg.
    """
    if not found.legs:
        return found
    leg = asked.leg
    worded = "text" in found.legs
    given = {
        **reader.parameters(),
        **text.parameters(asked.text),
        **vector.parameters(leg, exact_rows=0, look=0),
        "weighed": found.weighed,
    }
    statement = _statement(
        reader.condition().as_string(None),
        (leg.space_id if "vector" in found.legs else None, worded),
        reader.known_at is not None,
    )
    shared = {row["record_id"]: row for row in queries.fetch(using, statement, given)}
    unmeasured = any(row["cosine"] is None for row in shared.values())
    return replace(
        found,
        rows=merged(found.rows, shared, found.legs, rows),
        waiting=found.waiting or ("vector" in found.legs and unmeasured),
    )


def own_hits(hits: Sequence[Hit], shared: Reader | None) -> list[Hit]:
    """Return the hits that are not shared: beside those that are, all is withheld."""
    return [hit for hit in hits if shared is None or hit.scope != shared.scope]


def list_shares(
    *, using: str, scope: Scope, rows: int, cursor: str | None = None
) -> SharePage:
    """Return the shares that a thread gave or got, oldest first. Two queries.

    Raises:
        Invalid: The cursor is none of ours.
    """
    mine = Q(**_at("parent", scope)) | Q(**_at("child", scope))
    found = ShareGrant.objects.using(using).filter(mine, tenant=scope.tenant)
    found = found.select_related("parent", "child").order_by("id")
    if cursor is not None:
        found = found.filter(id__gt=check_uuid(cursor, "cursor"))
    page = list(found[: rows + 1])
    items = _shares(using, scope.tenant, page[:rows])
    more = len(page) > rows
    return SharePage(items, str(items[-1].id) if more else None)


def _shares(using: str, tenant: str, grants: Sequence[ShareGrant]) -> tuple[Share, ...]:
    ids: dict[uuid.UUID, list[uuid.UUID]] = {grant.id: [] for grant in grants}
    items = ShareGrantItem.objects.using(using).filter(tenant=tenant, grant_id__in=ids)
    pairs = items.order_by("position").values_list("grant_id", "record_id")
    for grant_id, record_id in pairs:
        ids[grant_id].append(record_id)
    return tuple(
        Share(
            grant.id,
            grant.parent.value,
            grant.child.value,
            tuple(ids[grant.id]),
            grant.expires_at,
            grant.created_at,
            grant.changed_at,
        )
        for grant in grants
    )


def _at(end: str, scope: Scope) -> dict[str, Any]:
    """Return what says that one end of a grant is exactly this scope, by its names."""
    return {
        f"{end}_id": scope.id,
        f"{end}__tenant": scope.tenant,
        f"{end}__owner": scope.owner,
        f"{end}__agent": scope.agent,
        f"{end}__thread": scope.thread,
    }


@lru_cache(maxsize=64)
def _statement(visible: str, asked: tuple[int | None, bool], known: bool) -> str:
    space_id, worded = asked
    unknown = sql.SQL(named("recall")["unknown"])
    cosine = bm25 = unknown
    if space_id is not None:
        cosine = sql.SQL(composed("recall", "cosine", space_id=space_id))
    if worded:
        bm25 = sql.SQL(named("share")["shared_bm25"])
    return composed(
        "share",
        "shared",
        visible=sql.SQL(visible),
        words=sql.SQL(named("recall")["asked_words"]),
        cosine=cosine,
        bm25=bm25,
        changed=changed() if known else sql.SQL("FALSE"),
    )
