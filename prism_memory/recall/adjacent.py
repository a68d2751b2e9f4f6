"""What stands beside the hits: the turns before and after, which they speak of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from psycopg import sql

from prism_memory.access import Reader, changed
from prism_memory.db import queries
from prism_memory.db.queries import composed
from prism_memory.recall.intact import intact_items
from prism_memory.recall.items import item_fields
from prism_memory.types import Hit, Item, Scope


def adjacent(
    *, using: str, reader: Reader, hits: Sequence[Hit], message_range: int
) -> tuple[Item, ...]:
    """Return the rows beside the hits, by (sequence, id).

    A record's neighbours are those before and after it in its source's (ordinal, id)
    order, whatever level they are written at; without a source, in its scope's and
    namespace's (sequence, id) order. What ``reader`` may not see is no neighbour: the
    next row in sight takes its place. Hits are left out, and no row comes twice.

    One query; none without hits or range.

    Args:
        reader: As for the hits: what narrows them narrows the rows beside them.
        message_range: Rows each way of each hit.
    """
    if not hits or message_range < 1:
        return ()
    given = {
        **reader.parameters(),
        "hit_ids": [hit.id for hit in hits],
        "message_range": message_range,
    }
    arms = {"in_scope" if hit.source is None else "in_source" for hit in hits}
    visible = reader.condition().as_string(None)
    statement = _statement(visible, tuple(sorted(arms)))
    rows = queries.fetch(using, statement, given)
    items = [_item(row, reader.scope.tenant) for row in rows]
    return tuple(intact_items(using, reader.scope.tenant, items))


def _item(row: Mapping[str, Any], tenant: str) -> Item:
    scope = Scope(tenant, row["owner"], row["agent"], row["thread"])
    return Item(**item_fields(row, scope))


@lru_cache(maxsize=64)
def _statement(visible: str, arms: tuple[str, ...]) -> str:
    rule = sql.SQL(visible)
    seen = sql.SQL(composed("around", "seen", visible=rule))
    walks = [sql.SQL(composed("around", arm, seen=seen)) for arm in arms]
    joined = sql.SQL("\nUNION ALL\n").join(walks)
    return composed("around", "adjacent", visible=rule, arms=joined, changed=changed())
