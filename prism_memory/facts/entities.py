"""Who and what visible facts speak of: a list, and one of it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.recall import cursors
from prism_memory.recall.narrowing import digest
from prism_memory.types import (
    MERGED_AT_MOST,
    NIL,
    EntityItem,
    EntityPage,
    MergedName,
    Scope,
    check_uuid,
)

MEMBERS: Final = 2_048
"""Entities of one page that are looked at, merged ones included."""

PER_ENTITY: Final = 128
"""Facts of one entity that are looked at, the newest."""


@for_tenant
def list_entities(
    *, using: str, reader: Reader, rows: int, cursor: str | None = None
) -> EntityPage:
    """Return a page of the entities that visible facts speak of. One query.

    In the order in which they were first named. Those of which no fact is in sight are
    left out, so a page may be short, or empty, and not be the last.

    Raises:
        Invalid: The cursor is none of this list.
    """
    order = f"entities:{digest(reader, moments=False)}"
    after = NIL
    if cursor is not None:
        (text,) = cursors.read(cursor, order, values=1)
        after = check_uuid(text, "cursor")
    found = _groups(using, reader, after=after, rows=rows + 1)
    roots = [root_id for root_id, _ in found[:rows]]
    items = (_item(reader.scope.tenant, one) for _, one in found[:rows])
    following = cursors.write(order, roots[-1].hex) if len(found) > rows else None
    return EntityPage(tuple(item for item in items if item is not None), following)


@for_tenant
def get_entity(*, using: str, reader: Reader, entity_id: uuid.UUID) -> EntityItem:
    """Return an entity that is merged into no other. One query.

    Raises:
        NotVisible: There is none, or no visible fact speaks of it.
    """
    found = _groups(using, reader, after=NIL, rows=1, entity_id=entity_id)
    items = (_item(reader.scope.tenant, one) for _, one in found)
    item = next(items, None)
    if item is None:
        raise NotVisible
    return item


Group = tuple[uuid.UUID, Sequence[dict[str, Any]]]


def _groups(
    using: str,
    reader: Reader,
    *,
    after: uuid.UUID,
    rows: int,
    entity_id: uuid.UUID | None = None,
) -> list[Group]:
    """Return the entities with all that is merged into them, in order."""
    statement = composed(
        "entities",
        "listed",
        visible=reader.condition(),
        depth=MERGED_AT_MOST,
        members=MEMBERS,
        per_entity=PER_ENTITY,
    )
    given = {**reader.parameters(), "after": after, "rows": rows}
    found = queries.fetch(using, statement, {**given, "entity_id": entity_id})
    groups: Iterable[tuple[uuid.UUID, Iterable[dict[str, Any]]]]
    groups = groupby(found, key=lambda row: row["root_id"])
    return [(root_id, list(group)) for root_id, group in groups]


def _item(tenant: str, group: Sequence[dict[str, Any]]) -> EntityItem | None:
    """Return what a reader may know of it; by a name that a visible fact bears."""
    shown = [row for row in group if row["shown"]]
    if not shown:
        return None
    root, named = group[0], shown[0]
    others = (row for row in shown if row["into_id"] is not None)
    return EntityItem(
        id=root["root_id"],
        scope=Scope(tenant, root["owner"], root["agent"], root["thread"]),
        name=named["name"],
        label=named["label"],
        merged=tuple(
            MergedName(row["id"], row["name"], row["into_id"]) for row in others
        ),
        facts=root["facts"],
        bounded=root["bounded"],
    )
