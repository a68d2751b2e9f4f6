"""What is held to be true: now, at a moment of the world, as known at another."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from psycopg import sql

from prism_memory.access import Reader, accessible, placed
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible
from prism_memory.facts.rows import fact_item
from prism_memory.integrity import intact
from prism_memory.recall import cursors
from prism_memory.recall.narrowing import digest
from prism_memory.types import Acceptance, FactItem, FactPage, Principal
from prism_memory.types.naming import fold

HISTORY_ROWS: Final = 1_000
"""Facts of one chain that are shown; a longer one is cut there."""


@dataclass(frozen=True)
class Wanted:
    """What facts somebody asks for.

    Args:
        subject: Compared as names are, see ``naming.fold``; any when None.
        predicate: Exactly; any when None.
        at: When it holds in the world; the reader's moment when None.
        known_at: When memory held it, by the database's clock; now when None.
        unaccepted: Proposals and beliefs too, each labelled.
        principals: Of these alone.
    """

    subject: str | None = None
    predicate: str | None = None
    at: dt.datetime | None = None
    known_at: dt.datetime | None = None
    unaccepted: bool = False
    principals: Collection[Principal] | None = None


@for_tenant
def facts(
    *, using: str, reader: Reader, wanted: Wanted, rows: int, cursor: str | None
) -> FactPage:
    """Return facts in sight that held at one moment as known at another. One query.

    In the order of (valid_from, id).

    Raises:
        Invalid: The cursor is none of this list.
    """
    order = _order("facts", reader, wanted)
    after_time, after = _after(cursor, order)
    held = [Acceptance.ACCEPTED] if not wanted.unaccepted else list(Acceptance)
    given = {
        "subject": None if wanted.subject is None else fold(wanted.subject),
        "predicate": wanted.predicate,
        "principals": _texts(wanted.principals),
        "acceptances": [str(one) for one in held],
        "valid_at": wanted.at or reader.at,
        "held_at": wanted.known_at,
        "after_time": after_time,
        "after": after,
        "rows": rows + 1,
    }
    found = _rows(using, "held_at", _timeless(reader), given)
    more, found = len(found) > rows, found[:rows]
    following = None
    if more:
        last = found[-1]
        starts = last["valid_from"].isoformat()
        following = cursors.write(order, starts, last["id"].hex)
    return FactPage(_items(using, reader, found), following)


@for_tenant
def timeline(
    *,
    using: str,
    reader: Reader,
    subject: str,
    predicate: str | None = None,
    rows: int,
    cursor: str | None,
) -> FactPage:
    """Return every version of what is known of a subject, the oldest first. One query.

    In the order of (valid_from, recorded_from): both axes show. Retracted and
    superseded ones are among it; of what the gate holds back, that there is something.

    Raises:
        Invalid: The cursor is none of this list.
    """
    order = _order("timeline", reader, Wanted(subject, predicate))
    place = [None] * 3 if cursor is None else cursors.read(cursor, order, 3)
    times = [read_time(value) if value else None for value in place[:2]]
    given = {
        "subject": fold(subject),
        "predicate": predicate,
        "after_time": times[0],
        "after_recorded": times[1],
        "after": None if cursor is None else cursors.place(0, place[2])[1],
        "rows": rows + 1,
    }
    seeing = replace(_timeless(reader), include_quarantined=True)
    found = _rows(using, "timeline", seeing, given)
    more, found = len(found) > rows, found[:rows]
    following = None
    if more:
        last = found[-1]
        moments = (last["valid_from"].isoformat(), last["recorded_from"].isoformat())
        following = cursors.write(order, *moments, last["version_id"].hex)
    return FactPage(_items(using, reader, found), following)


@for_tenant
def get_fact(*, using: str, reader: Reader, fact_id: uuid.UUID) -> FactItem:
    """Return a fact in sight as it stands now, superseded or not. One query.

    Raises:
        NotVisible: No such fact, or it was retracted, forgotten or archived (B419).
    """
    seeing = replace(reader, include_superseded=True)
    items = latest(using=using, reader=seeing, fact_ids=[fact_id])
    if not items:
        raise NotVisible
    return items[0]


def latest(
    *, using: str, reader: Reader, fact_ids: Collection[uuid.UUID]
) -> tuple[FactItem, ...]:
    """Return those of some facts that are in sight, as they stand. One query."""
    given = {"fact_ids": list(fact_ids), "forgotten": False}
    return _items(using, reader, _rows(using, "latest", reader, given))


@for_tenant
def get_facts(
    *, using: str, reader: Reader, fact_ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, FactItem]:
    """Return those of some facts that are in sight, as they stand now. One query.

    Of what the gate holds back, that there is something.
    """
    seeing = replace(reader, include_superseded=True, include_quarantined=True)
    given = {"fact_ids": list(fact_ids), "forgotten": False}
    items = _items(using, reader, _rows(using, "latest", seeing, given))
    return {item.id: item for item in items}


@for_tenant
def history(*, using: str, reader: Reader, fact_id: uuid.UUID) -> FactPage:
    """Return the chain that a fact is part of, from any member, the oldest first.

    What it replaced, what replaced it and what waits to, also retracted and forgotten
    ones: of those no words (B416, B420). Two queries.

    Raises:
        NotVisible: No such fact, or none of its chain is in sight.
    """
    given = {
        "fact_id": fact_id,
        "rows": HISTORY_ROWS,
        **_timeless(reader).parameters(),
    }
    chain = queries.fetch(using, named("facts")["chain"], given)
    seeing = replace(_timeless(reader), include_quarantined=True)
    given = {"fact_ids": [row["id"] for row in chain], "forgotten": True}
    items = _items(using, reader, _rows(using, "latest", seeing, given))
    if not any(item.id == fact_id for item in items):
        raise NotVisible
    ordered = sorted(items, key=lambda i: (i.valid_from, i.recorded_from, i.id))
    return FactPage(tuple(ordered))


def _timeless(reader: Reader) -> Reader:
    """Return who sees facts of any time: their versions say which holds when."""
    return replace(reader, include_superseded=True, include_retired=True)


def _rows(
    using: str, name: str, reader: Reader, given: dict[str, Any]
) -> list[dict[str, Any]]:
    parts = named("facts")
    statement = sql.SQL(parts[name]).format(
        columns=sql.SQL(parts["columns"]),
        joined=sql.SQL(parts["joined"]),
        visible=reader.condition(),
        placed=placed(),
        accessible=accessible(reader=reader),
    )
    given = {**reader.parameters(), **given}
    return queries.fetch(using, statement.as_string(None), given)


def _items(
    using: str, reader: Reader, rows: Sequence[dict[str, Any]]
) -> tuple[FactItem, ...]:
    """Return facts whose signatures are theirs. One query; none when off."""
    tenant = reader.scope.tenant
    shown = {row["id"]: (row["version"], row["text"]) for row in rows}
    whole = intact(using=using, tenant=tenant, shown=shown)
    shows = reader.include_quarantined
    return tuple(
        fact_item(row, tenant, quarantined=shows) for row in rows if row["id"] in whole
    )


def _order(name: str, reader: Reader, wanted: Wanted) -> str:
    """Return what a list's cursors are of: who reads, and what they ask for."""
    asked = hashlib.blake2b(repr(wanted).encode(), digest_size=8).hexdigest()
    return f"{name}:{digest(reader, moments=False)}:{asked}"


def _after(
    cursor: str | None, order: str
) -> tuple[dt.datetime | None, uuid.UUID | None]:
    if cursor is None:
        return None, None
    starts, fact_id = cursors.read(cursor, order)
    return read_time(starts), cursors.place(0, fact_id)[1]


def read_time(value: object) -> dt.datetime:
    """Return a time that a cursor holds.

    Raises:
        Invalid: It is none.
    """
    try:
        return dt.datetime.fromisoformat(str(value)).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise cursors.unknown() from None


def _texts(values: Collection[Principal] | None) -> list[str] | None:
    return None if values is None else [str(value) for value in values]
