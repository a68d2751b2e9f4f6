"""Bring back what an export holds: add what is missing, overwrite nothing.

A record must not be seen before what it is derived from is known, for that may be
blocked. One whose source comes later in the file waits behind the gate until ``link``.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from prism_memory import integrity
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.lifecycle.entries import Row
from prism_memory.lifecycle.lineage import find_shared, write_edges
from prism_memory.lifecycle.remember import remember
from prism_memory.lifecycle.removal import lock_records
from prism_memory.lifecycle.restricting import keep_restricted
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, Derived, Restored, Scope, record_ref

LATE: Final = "restored before what it derives from"

Name = tuple[uuid.UUID, str, str, str, str]
"""Id of the scope, kind, namespace, partition and key: what makes a record one."""


@dataclass(frozen=True)
class Found:
    """A record that is there.

    Args:
        late: It waits to be linked.
    """

    id: uuid.UUID
    late: bool


def restore(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    rows: Sequence[Row],
    embedder: str,
    at: dt.datetime,
) -> int:
    """Store those of the rows that are not there; return how many. All, or none.

    What is there stays as it is, whatever the file says of it: also what was revoked
    or is held. What was restricted where it was exported is closed to all here, until
    access to its source is set.

    Args:
        rows: Made of ``Restored`` entries.
    """
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        known = _find(using, scope.tenant, (_name(scope, row) for row in rows))
        new = [row for row in rows if _name(scope, row) not in known]
        stored = remember(
            using=using,
            scope=scope,
            actor=actor,
            rows=new,
            embedder=embedder,
            at=at,
            overwrites=False,
        )
        # What was written since the look at it stays as it is too.
        made = {row.id: row for row in new if row.id in stored.changed}
        late = _link(using, scope, made, at, final=False)
        close_restored(
            using=using, scope=scope, rows=made, restricted=_restricted(made.values())
        )
        _complete(using, scope.tenant, made, late)
        integrity.sign(using=using, tenant=scope.tenant, record_ids=list(made))
    return len(made)


def close_restored(
    *,
    using: str,
    scope: Scope,
    rows: Mapping[uuid.UUID, Row],
    restricted: Iterable[str],
) -> None:
    """Close what was restricted where it was exported. Two queries; none without any.

    Nobody is granted any of it before somebody says so here: principals of another
    place are others. A source that was there and open is closed too.

    Args:
        rows: Restored records, by their ids.
        restricted: Keys of their sources that were restricted.
    """
    if keys := sorted(set(restricted)):
        given = {"tenant": scope.tenant, "scope_id": scope.id, "keys": keys}
        queries.execute(using, named("restore")["restrict"], given)
    drawn = [(i, one) for i, row in rows.items() for one in _entry(row).restricted_to]
    keep_restricted(using=using, tenant=scope.tenant, drawing=drawn)


def _restricted(rows: Iterable[Row]) -> set[str]:
    entries = map(_entry, rows)
    return {e.source.key for e in entries if e.restricted and e.source is not None}


def link(*, using: str, scope: Scope, rows: Sequence[Row], at: dt.datetime) -> int:
    """Link those of the rows that wait for it, and show them; return how many."""
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        known = _find(using, scope.tenant, (_name(scope, row) for row in rows))
        waiting = {
            known[name].id: row
            for row in rows
            if (name := _name(scope, row)) in known and known[name].late
        }
        lock_records(using=using, tenant=scope.tenant, ids=waiting)
        _link(using, scope, waiting, at, final=True)
        given = {"tenant": scope.tenant, "ids": list(waiting), "reason": LATE}
        with integrity.carried(
            using=using, tenant=scope.tenant, record_ids=list(waiting)
        ):
            queries.execute(using, named("restore")["open"], given)
    return len(waiting)


def is_late(*, using: str, tenant: str) -> bool:
    """Tell whether anything of a tenant waits to be linked. One query."""
    given = {"tenant": tenant, "reason": LATE}
    (row,) = queries.fetch(using, named("restore")["any_late"], given)
    return bool(row["found"])


def _name(scope: Scope, row: Row) -> Name:
    return (scope.id, *row.identity)


def _find(using: str, tenant: str, names: Iterable[Name]) -> dict[Name, Found]:
    asked = list(dict.fromkeys(names))
    columns = [list(column) for column in zip(*asked, strict=True)] or [[]] * 5
    fields = ("scope_ids", "kinds", "namespaces", "partitions", "keys")
    given = {"tenant": tenant, **dict(zip(fields, columns, strict=True))}
    return {
        (
            row["scope_id"],
            row["kind"],
            row["namespace"],
            row["partition"],
            row["key"],
        ): Found(row["id"], row["gate_reason"] == LATE)
        for row in queries.fetch(using, named("restore")["find_named"], given)
    }


def _entry(row: Row) -> Restored:
    assert isinstance(row.entry, Restored)  # noqa: S101 - what ``restore`` takes
    return row.entry


def _link(
    using: str,
    scope: Scope,
    rows: Mapping[uuid.UUID, Row],
    at: dt.datetime,
    *,
    final: bool,
) -> set[uuid.UUID]:
    """Write down what records derive from; return those of which not all is there.

    Args:
        final: What is not there now is something outside.
    """
    derived = {i: _entry(row).derived for i, row in rows.items() if _entry(row).derived}
    if not derived:
        return set()
    every = {one for given in derived.values() for one in given}
    refs = find_sources(using=using, scope=scope, derived=every, at=at)
    late = set()
    sources: dict[uuid.UUID, list[str]] = {}
    for record_id, given in derived.items():
        found = [
            refs.get(one) or (_outside(scope, one) if final else "") for one in given
        ]
        sources[record_id] = [ref for ref in found if ref]
        if not all(found):
            late.add(record_id)
    write_edges(using=using, scope=scope, sources=sources, at=at)
    return late


def find_sources(
    *, using: str, scope: Scope, derived: Iterable[Derived], at: dt.datetime
) -> dict[Derived, str]:
    """Return the ref of each that is there, or was never one of this app's records."""
    derived = list(derived)
    documents = _documents(using, scope, derived)
    names = {
        one: (
            one.place(scope).id,
            one.kind.value,
            one.namespace,
            one.partition,
            f"{documents[one]}:{one.key}" if one in documents else one.key,
        )
        for one in derived
        if one.key
    }
    found = _find(using, scope.tenant, names.values())
    refs = {
        one: record_ref(found[name].id) for one, name in names.items() if name in found
    }
    return refs | _by_id(using, scope, [one for one in derived if not one.key], at)


def _documents(
    using: str, scope: Scope, derived: Iterable[Derived]
) -> dict[Derived, uuid.UUID]:
    """Return the document here of each chunk of one. One query, none without any."""
    asked = [one for one in derived if one.source]
    if not asked:
        return {}
    given = {
        "tenant": scope.tenant,
        "scope_ids": [one.place(scope).id for one in asked],
        "keys": [one.source for one in asked],
    }
    rows = queries.fetch(using, named("restore")["find_documents"], given)
    found = {(row["scope_id"], row["key"]): row["id"] for row in rows}
    places = {one: (one.place(scope).id, one.source) for one in asked}
    return {one: found[place] for one, place in places.items() if place in found}


def _by_id(
    using: str, scope: Scope, derived: Sequence[Derived], at: dt.datetime
) -> dict[Derived, str]:
    given: dict[str, Any] = {
        "tenant": scope.tenant,
        "scope_ids": [level.id for level in scope.chain()],
        "ids": [one.record for one in derived if one.record],
    }
    rows = queries.fetch(using, named("remember")["resolve_ids"], given)
    there = {row["id"] for row in rows}
    if beyond := set(given["ids"]) - there:
        there |= find_shared(using=using, scope=scope, ids=beyond, at=at)
    return {
        one: (
            record_ref(one.record)
            if one.record and one.record in there
            else _outside(scope, one)
        )
        for one in derived
    }


def _outside(scope: Scope, one: Derived) -> str:
    return f"ext:{one.place(scope).id}:{one.external or one.key or one.record}"


def _complete(
    using: str, tenant: str, made: Mapping[uuid.UUID, Row], late: set[uuid.UUID]
) -> None:
    entries = {record_id: _entry(row) for record_id, row in made.items()}
    given = {
        "tenant": tenant,
        "reason": LATE,
        "ids": list(entries),
        "created_ats": [entry.created_at for entry in entries.values()],
        "changed_ats": [entry.changed_at for entry in entries.values()],
        "uses": [entry.uses for entry in entries.values()],
        "lates": [record_id in late for record_id in entries],
    }
    queries.execute(using, named("restore")["complete"], given)
