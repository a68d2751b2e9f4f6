"""The entity leg: facts that speak of what others, or the question, speak of.

A statement of its own, after that of the other legs, and only where it is asked for.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from psycopg import sql

from prism_memory.access import Reader, changed
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.recall.candidates import vector
from prism_memory.recall.candidates.vector import VectorLeg
from prism_memory.types import MERGED_AT_MOST

MEMBERS: Final = 64
"""Entities whose facts are looked at, merged ones included."""

PER_ENTITY: Final = 128
"""Facts of one entity that are looked at, the newest."""

LOOKS: Final = 512
"""Facts that one statement looks at in all: what an entity of thousands costs."""


@dataclass(frozen=True)
class Reached:
    """The facts that were found.

    Args:
        rows: By record id, best first, the columns of the statement.
        bounded: An entity has more facts than were looked at.
    """

    rows: dict[str, dict[str, Any]]
    bounded: bool = False


def of_facts(
    *,
    using: str,
    reader: Reader,
    leg: VectorLeg,
    seeds: Sequence[uuid.UUID],
    without: Collection[uuid.UUID],
    rows: int,
) -> Reached:
    """Return up to ``rows`` visible facts that share an entity with some. One query.

    Args:
        leg: What the facts are compared with, for their order.
        seeds: Best first. Those that are not visible lead nowhere.
        without: Not these.
    """
    if not seeds:
        return Reached({})
    given = {"seeds": list(seeds), "without": list(without)}
    return _reach(using, reader, leg, "keys_of_facts", rows, given)


def of_names(
    *, using: str, reader: Reader, leg: VectorLeg, names: Sequence[str], rows: int
) -> Reached:
    """Return up to ``rows`` visible facts that speak of what has a name. One query.

    Args:
        names: Folded.
    """
    if not names:
        return Reached({})
    given = {"names": list(names), "without": []}
    return _reach(using, reader, leg, "keys_of_names", rows, given)


def _reach(
    using: str,
    reader: Reader,
    leg: VectorLeg,
    keys: str,
    rows: int,
    given: dict[str, Any],
) -> Reached:
    statement = _statement(
        keys,
        reader.condition().as_string(None),
        None if leg.vector is None else leg.space_id,
        rows,
        reader.known_at is not None,
    )
    values = {
        **reader.parameters(),
        **vector.parameters(leg, exact_rows=0, look=0),
        **given,
    }
    answer = queries.fetch(using, statement, values)
    found = {row["record_id"]: row for row in answer if row["record_id"] is not None}
    return Reached(found, bool(answer[0]["bounded"]))


@lru_cache(maxsize=64)
def _statement(
    keys: str, visible: str, space_id: int | None, rows: int, known: bool
) -> str:
    cosine = sql.SQL(named("recall")["unknown"])
    if space_id is not None:
        cosine = sql.SQL(composed("recall", "cosine", space_id=space_id))
    rule = sql.SQL(visible)
    parts = sql.SQL(named("entities")[keys])
    return composed(
        "entities",
        "reach",
        keys=parts.format(visible=rule, depth=sql.Literal(MERGED_AT_MOST)),
        visible=rule,
        cosine=cosine,
        changed=changed() if known else sql.SQL("FALSE"),
        depth=MERGED_AT_MOST,
        members=MEMBERS,
        per_entity=PER_ENTITY,
        looks=LOOKS,
        rows=rows,
    )
