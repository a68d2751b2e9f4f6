"""Conflicts that wait, for who settles them: page by page, the oldest first."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from psycopg import sql

from prism_memory.access import Reader
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.facts.reading import get_facts
from prism_memory.recall import cursors
from prism_memory.recall.narrowing import digest
from prism_memory.types import (
    NIL,
    ConflictItem,
    ConflictPage,
    ConflictStage,
    ConflictZone,
    FactItem,
    ReadMode,
)


@for_tenant
def conflicts(
    *, using: str, reader: Reader, rows: int, cursor: str | None
) -> ConflictPage:
    """Return pending conflicts of exactly the reader's scope, the oldest first.

    Of claims that the gate holds back, no words. Two queries.

    Raises:
        Invalid: The cursor is none of this list.
    """
    here = replace(
        reader,
        mode=ReadMode.EXACT,
        include_quarantined=True,
        include_superseded=True,
    )
    order = f"conflicts:{digest(reader, moments=False)}"
    given = {
        **here.parameters(),
        "after": NIL if cursor is None else _place(cursor, order),
        "rows": rows + 1,
    }
    statement = sql.SQL(named("conflicts")["waiting"]).format(visible=here.condition())
    found = queries.fetch(using, statement.as_string(None), given)
    page = found[:rows]
    ids = {one for row in page for one in (row["fact_id"], *row["others"])}
    shown = get_facts(using=using, reader=reader, fact_ids=ids)
    items = [_item(row, shown) for row in page if row["fact_id"] in shown]
    more = len(found) > rows
    following = cursors.write(order, page[-1]["id"].hex) if more else None
    return ConflictPage(tuple(items), following)


def _place(cursor: str, order: str) -> uuid.UUID:
    (last,) = cursors.read(cursor, order, 1)
    return cursors.place(0, last)[1]


def _item(row: Mapping[str, Any], shown: Mapping[uuid.UUID, FactItem]) -> ConflictItem:
    return ConflictItem(
        id=row["id"],
        fact=shown[row["fact_id"]],
        others=tuple(shown[one] for one in row["others"] if one in shown),
        stage=ConflictStage(row["stage"]),
        zone=ConflictZone(row["zone"]),
        similarity=row["similarity"],
        reason=row["reason"],
        at=row["at"],
        attempts=row["attempts"],
    )
