"""Which facts of a file can come back: what they cite is here, their names are free."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence

from django.db.models import Q

from prism_memory.facts.coming_back import Coming
from prism_memory.lifecycle.entries import Row
from prism_memory.lifecycle.restore import find_sources
from prism_memory.models import Fact, Record
from prism_memory.types import Derived, Kind, Restored, RestoredFact, Scope, record_ids


def fact_of(row: Row) -> RestoredFact:
    """Return what a line of a file says of a fact."""
    assert isinstance(row.entry, Restored)  # noqa: S101 - what ``restore`` takes
    assert row.entry.fact is not None  # noqa: S101
    return row.entry.fact


def find_cited(
    using: str, scope: Scope, at: dt.datetime, rows: Sequence[Row]
) -> dict[uuid.UUID, tuple[uuid.UUID, ...] | None]:
    """Return what each cites, by what it is called; None where some is not here."""
    sources: dict[uuid.UUID, tuple[Derived, ...]] = {
        row.id: row.entry.derived for row in rows if isinstance(row.entry, Restored)
    }
    every = {one for own in sources.values() for one in own}
    refs = find_sources(using=using, scope=scope, derived=every, at=at)
    found: dict[uuid.UUID, tuple[uuid.UUID, ...] | None] = {}
    bare = {row.id: fact_of(row).own_words for row in rows}
    for fact_id, own in sources.items():
        words = bare[fact_id]  # they come with it
        ids = [
            words
            if words is not None and one.record == words
            else next(iter(record_ids([refs.get(one, "")])), None)
            for one in own
        ]
        known = tuple(dict.fromkeys(i for i in ids if i is not None and i != fact_id))
        found[fact_id] = known if ids and len(known) == len(set(ids)) else None
    return found


def sorted_out(
    using: str,
    scope: Scope,
    rows: Sequence[Row],
    cited: Mapping[uuid.UUID, tuple[uuid.UUID, ...] | None],
) -> tuple[list[Coming], dict[uuid.UUID, str]]:
    """Return which facts can come back, and why others cannot. Two queries."""
    keys = [fact_of(row).key for row in rows]
    open_ones = Fact.objects.using(using).filter(
        tenant=scope.tenant, scope_id=scope.id, key__in=keys, closed_at=None
    )
    used = set(open_ones.values_list("key", flat=True))
    taken = _taken(using, scope, rows)
    coming, refused = [], {}
    for row in rows:
        fact, evidence = fact_of(row), cited[row.id]
        if row.id in taken or fact.own_words in taken:
            refused[row.id] = "its id is that of another record."
        elif evidence is None:
            refused[row.id] = "what it cites is neither in the file nor here."
        elif fact.own_words is not None and fact.own_words not in evidence:
            refused[row.id] = "it does not cite its own words."
        elif fact.closed_at is None and fact.key in used:
            refused[row.id] = "its key is in use by another fact."
        else:
            used |= set() if fact.closed_at else {fact.key}
            coming.append(Coming(row, fact, evidence))
    return coming, refused


def _taken(using: str, scope: Scope, rows: Sequence[Row]) -> set[uuid.UUID]:
    """Return which ids, of facts and of their own words, are others' here. One query.

    Also those of facts whose own words would be called as another record is.
    """
    own = {
        str(row.id): fact_of(row).own_words for row in rows if fact_of(row).own_words
    }
    ids = {*(row.id for row in rows), *own.values()}
    named = Q(scope_id=scope.id, kind=Kind.NOTE, key__in=list(own))
    named &= Q(namespace="", partition="")
    others = Record.objects.using(using).filter(
        Q(id__in=ids) | named, tenant=scope.tenant
    )
    found = others.values_list("id", "kind", "key")
    called = {uuid.UUID(key) for _, kind, key in found if kind == "note" and key in own}
    return called | {record_id for record_id, _, _ in found}
