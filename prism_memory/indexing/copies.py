"""Keep an external index true: what it holds, and what it is still to be told.

PostgreSQL has the vectors, and a row for each that the index holds or shall hold. A
vector that is written marks its row in the same transaction, one that is deleted too;
the index is told afterwards, outside any. Whatever it loses can be told again.
"""

from __future__ import annotations

import datetime as dt
import json
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from prism_memory.backends import Place, Stored, VectorIndex, get_vector_index
from prism_memory.backends.base import provider_errors
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.indexing.spaces import Space
from prism_memory.types import NIL

ROWS: Final = 256
"""Vectors that an index is told of at one time."""

PAGE_ROWS: Final = 1_000

FAILURES: Final = (ProviderUnavailable, ProviderRejected)


SHARE: Final = 0.25
"""Of a drain's time, what is left for the copies."""


@dataclass(frozen=True)
class Copied:
    """What an index was told.

    Args:
        copied: Vectors that it holds now.
        removed: Vectors that it holds no longer.
        outage: Why it was not told all, or empty.
    """

    copied: int = 0
    removed: int = 0
    outage: str = ""


@dataclass(frozen=True)
class Copies:
    """What one tenant has in one index.

    Args:
        space_id: Of which space; 0 where that does not matter.
    """

    using: str
    tenant: str
    index: VectorIndex
    space_id: int = 0

    def run(self, name: str, **given: object) -> list[dict[str, Any]]:
        """Return the rows of one statement."""
        return queries.fetch(self.using, named("copies")[name], self._place(given))

    def change(self, name: str, **given: object) -> int:
        """Return how many rows one statement touched."""
        return queries.execute(self.using, named("copies")[name], self._place(given))

    def _place(self, given: dict[str, object]) -> dict[str, Any]:
        place = {"tenant": self.tenant, "space_id": self.space_id}
        return {**place, "index": self.index.name, **given}


@dataclass(frozen=True)
class _Claimed:
    """A copy that this worker holds for a while."""

    record_id: uuid.UUID
    space_id: int
    version: int
    claimed_until: dt.datetime


def want(
    *, using: str, tenant: str, space: Space, record_ids: Collection[uuid.UUID]
) -> None:
    """Note vectors that were just written, in the transaction that wrote them.

    One query; none without an external index.
    """
    index = get_vector_index()
    if index is None or not record_ids:
        return
    copies = Copies(using, tenant, index, space.id)
    copies.change("want_copies", record_ids=list(record_ids))


def is_behind(*, using: str, tenant: str, space: Space) -> bool:
    """Tell whether the external index is to be told something. One query, or none."""
    index = get_vector_index()
    if index is None:
        return False
    copies = Copies(using, tenant, index, space.id)
    (row,) = copies.run("has_copies_to_tell")
    return bool(row["waiting"]) or not _is_complete(copies)


def rest_of(max_seconds: float) -> float:
    """Return what the copies leave of a drain's time; all without an external index."""
    return max_seconds * (1.0 if get_vector_index() is None else 1.0 - SHARE)


def copy(
    *, using: str, tenant: str, space: Space, max_seconds: float | None = None
) -> Copied:
    """Tell the external index, if there is one, what it does not know yet.

    Enlists all vectors of the space first, where that was never done. Calls the index,
    so it must not run inside a transaction; an outage is told, not raised.
    """
    index = get_vector_index()
    if index is None:
        return Copied()
    copies = Copies(using, tenant, index, space.id)
    end = None if max_seconds is None else time.monotonic() + max_seconds
    removed = copied = 0
    try:
        if not _is_complete(copies):
            enlist(copies)
        removed = _until_none(copies, "claim_gone", _remove, end)
        copied = _until_none(copies, "claim_wanted", _store, end)
    except FAILURES as error:
        return Copied(copied, removed, str(error))
    return Copied(copied, removed)


def tell_removed(*, using: str, tenant: str) -> Copied:
    """Tell the external index, if there is one, what it is to delete. No outage raises.

    For who erases: in whatever space it was.
    """
    index = get_vector_index()
    if index is None:
        return Copied()
    try:
        copies = Copies(using, tenant, index)
        return Copied(removed=_until_none(copies, "claim_gone", _remove, None))
    except FAILURES as error:
        return Copied(outage=str(error))


def reconcile(*, using: str, tenant: str, space: Space) -> int:
    """Compare all vectors with what the index is said to hold; return what was off.

    Two passes in pages. What is off is told by the next ``copy``. One query for every
    thousand.
    """
    index = get_vector_index()
    if index is None:
        return 0
    copies = Copies(using, tenant, index, space.id)
    off = enlist(copies)
    after, after_space = NIL, 0
    while True:
        (row,) = copies.run(
            "drop_copies", after=after, after_space=after_space, rows=PAGE_ROWS
        )
        off += int(row["dropped"])
        if row["last"] is None:
            return off
        after, after_space = row["last"], row["last_space"]


def enlist(copies: Copies) -> int:
    """Note all vectors of the space that the index does not know of; return how many.

    From then on recall counts on the index. Safe to repeat, and beside writers.
    """
    after, made = NIL, 0
    while True:
        (row,) = copies.run("enlist_copies", after=after, rows=PAGE_ROWS)
        if row["last"] is None:
            break
        after, made = row["last"], made + int(row["made"])
    copies.change("complete_copies")
    return made


def count_copies(*, using: str, tenant: str) -> dict[str, dict[str, int]]:
    """Return how many copies a tenant has, by index and state. One query."""
    rows = queries.fetch(using, named("copies")["count_copies"], {"tenant": tenant})
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        found.setdefault(row["index"], {})[row["state"]] = row["copies"]
    return found


def count_gone(*, using: str, tenant: str) -> int:
    """Return how many vectors external indexes are to delete yet. One query."""
    (row,) = queries.fetch(using, named("copies")["count_gone"], {"tenant": tenant})
    return int(row["gone"])


def forget_index(*, using: str, tenant: str, index: str) -> int:
    """Forget what an index held that was thrown away; return how many vectors."""
    given = {"tenant": tenant, "index": index}
    return queries.execute(using, named("copies")["forget_copies"], given)


def drop_copies(*, using: str, tenant: str, space_id: int) -> None:
    """Note that a space is dropped, for every index that holds some. One query."""
    given = {"tenant": tenant, "space_id": space_id}
    queries.execute(using, named("copies")["drop_space"], given)


def _is_complete(copies: Copies) -> bool:
    (row,) = copies.run("are_copies_complete")
    return bool(row["complete"])


Tell = Callable[[Copies, Sequence[_Claimed]], int]


def _until_none(copies: Copies, claim: str, tell: Tell, end: float | None) -> int:
    """Claim and tell until nothing is left, or the time is over; return how many."""
    done = 0
    while end is None or time.monotonic() < end:
        given = {"rows": ROWS, "claim_seconds": settings.CLAIM_SECONDS}
        claimed = [_Claimed(**row) for row in copies.run(claim, **given)]
        if not claimed:
            break
        try:
            done += tell(copies, claimed)
        finally:
            # What was told is settled by then; this gives the rest back.
            _settle(copies, claimed, told=False)
    return done


def _store(copies: Copies, claimed: Sequence[_Claimed]) -> int:
    ids = [one.record_id for one in claimed]
    rows = [
        Stored(row["record_id"], row["scope_id"], json.loads(row["vector"]))
        for row in copies.run("vectors_of_copies", record_ids=ids)
    ]
    there = {row.record_id for row in rows}
    # What has no vector at the moment is gone until it has one.
    _settle(copies, [x for x in claimed if x.record_id not in there], state="gone")
    if rows:
        _upsert(copies, [x for x in claimed if x.record_id in there], rows)
    return len(rows)


def _upsert(
    copies: Copies, claimed: Sequence[_Claimed], rows: Sequence[Stored]
) -> None:
    """Tell the index; what it was told under a claim that was lost is told again.

    It may have landed after what others told the index meanwhile: it is deleted where
    nothing stands behind it any more.
    """
    told = False
    try:
        with provider_errors(copies.index):
            copies.index.upsert(Place(copies.tenant, copies.space_id), rows)
        told = True
    finally:
        kept = _settle(copies, claimed, state="held", told=told)
        if lost := [row for row in rows if row.record_id not in kept]:
            copies.change(
                "doubt_stored",
                record_ids=[row.record_id for row in lost],
                scope_ids=[row.scope_id for row in lost],
            )


def _remove(copies: Copies, claimed: Sequence[_Claimed]) -> int:
    ordered = sorted(claimed, key=lambda one: one.space_id)
    for space_id, some in groupby(ordered, key=lambda one: one.space_id):
        ids = [one.record_id for one in some]
        with provider_errors(copies.index):
            copies.index.delete(Place(copies.tenant, space_id), ids)
    cleared = copies.change("clear_copies", **_listed(claimed))
    if cleared < len(claimed):
        copies.change("doubt_removed", **_listed(claimed))
    return cleared


def _settle(
    copies: Copies, claimed: Sequence[_Claimed], *, state: str = "", told: bool = True
) -> set[uuid.UUID]:
    """Give copies back, told or not; return those whose claim was not lost."""
    if not claimed:
        return set()
    given = {**_listed(claimed), "state": state, "told": told}
    return {row["record_id"] for row in copies.run("settle_copies", **given)}


def _listed(claimed: Iterable[_Claimed]) -> dict[str, object]:
    some = list(claimed)
    return {
        "record_ids": [one.record_id for one in some],
        "space_ids": [one.space_id for one in some],
        "versions": [one.version for one in some],
        "claims": [one.claimed_until for one in some],
    }
