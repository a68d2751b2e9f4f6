"""Merge entities whose names mean the same, in the background.

The database is the queue: a name waits while it has no vector of the active space. A
run that is lost costs time; the vector is written with the merge that it leads to, so
what was not decided is decided by the next run. Off by default: names alone decide.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from prism_memory.db import queries
from prism_memory.db.queries import named, vector_text
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import (
    Conflict,
    LimitExceeded,
    NotVisible,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.facts.merge import lock_entities, merge
from prism_memory.indexing import Space
from prism_memory.indexing.drain import Embed, fitting
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import NIL, Actor, Scope, Vector

SAME: Final = 0.92
"""Cosine from which two names are one (B391). Source: S3, as the next two."""

PERHAPS: Final = 0.82
"""Cosine from which a judge is asked."""

NEWEST: Final = 1_000
"""Entities of a scope that a name is compared with."""

NEAREST: Final = 8
"""The nearest of them that are looked at, since numbers may set the first apart."""

MOST: Final = 1_000
"""Names of one run."""

RESOLVER: Final = Actor("system:entities")
"""Who merges here, as the audit names them."""

EntityJudge = Callable[[str, str], bool]
"""Of two names: whether they clearly mean the same. Raises ProviderUnavailable when it
is down, and ProviderRejected where it cannot tell."""


@dataclass(frozen=True)
class Resolved:
    """What a run did.

    Args:
        compared: Names that have their vector now.
        merged: Those that were merged into another.
        refused: Those that the embedder refused; they wait for the next run.
        outage: Why it ended early, or empty.
        more: Others may wait.
    """

    compared: int = 0
    merged: int = 0
    refused: int = 0
    outage: str = ""
    more: bool = False


@dataclass(frozen=True)
class Waiting:
    """An entity that has no vector yet."""

    id: uuid.UUID
    name: str
    scope: Scope


@dataclass(frozen=True)
class Resolution:
    """One run for one tenant."""

    using: str
    tenant: str
    space: Space
    embed: Embed
    judge: EntityJudge | None
    at: dt.datetime

    def vectors(self, found: Sequence[Waiting]) -> list[tuple[Waiting, Vector]]:
        """Return the vectors of names; one that is refused spoils no other's."""
        try:
            vectors = fitting(self.embed, self.space, [one.name for one in found])
        except ProviderRejected:
            if len(found) == 1:
                return []
            middle = len(found) // 2
            return [*self.vectors(found[:middle]), *self.vectors(found[middle:])]
        return [*zip(found, vectors, strict=True)]

    def settle(self, one: Waiting, vector: Vector) -> bool:
        """Write a vector, with the merge that it leads to; tell whether it does."""
        given = {
            "tenant": self.tenant,
            "scope_id": one.scope.id,
            "entity_id": one.id,
            "space_id": self.space.id,
            "vector": vector_text(vector),
        }
        found = self.same(one, given)  # the judge is asked outside the transaction
        with transaction.atomic(using=self.using):
            # First, as by all who merge: the lineage, then the names in their order.
            if found is not None and not self.locked(one, found):
                found = None
            queries.execute(self.using, named("entities")["write_vector"], given)
            return found is not None and self.merged(one, found)

    def locked(self, one: Waiting, into: dict[str, Any]) -> bool:
        """Lock two entities; tell whether both are there still."""
        hold_lineage(using=self.using, tenant=self.tenant)
        ids = [one.id, into["id"]]
        try:
            lock_entities(using=self.using, scope=one.scope, ids=ids)
        except NotVisible:
            return False
        return True

    def same(self, one: Waiting, given: dict[str, Any]) -> dict[str, Any] | None:
        """Return the entity that a name means, if there is one of another name."""
        wanted = {**given, "newest": NEWEST, "rows": NEAREST}
        rows = queries.fetch(self.using, named("entities")["nearest_names"], wanted)
        near = (row for row in rows if numbers(row["name"]) == numbers(one.name))
        best = next(near, None)
        if best is None or not best["cosine"] >= PERHAPS:  # NaN is not
            return None
        if best["cosine"] >= SAME or self.says_yes(one.name, best["name"]):
            return best
        return None

    def says_yes(self, name: str, other: str) -> bool:
        """Ask the judge, if there is one."""
        try:
            return self.judge is not None and self.judge(name, other) is True
        except ProviderRejected:
            return False

    def merged(self, one: Waiting, into: dict[str, Any]) -> bool:
        """Merge, unless a person was quicker."""
        try:
            merge(
                using=self.using,
                scope=one.scope,
                actor=RESOLVER,
                entity_id=one.id,
                into_id=into["id"],
                at=self.at,
                cosine=into["cosine"],
            )
        except (Conflict, LimitExceeded, NotVisible):
            return False
        return True


@for_tenant
def resolve(
    *,
    using: str,
    tenant: str,
    space: Space,
    embed: Embed,
    at: dt.datetime,
    batch: int,
    judge: EntityJudge | None = None,
    most: int = MOST,
) -> Resolved:
    """Compare names that wait with others of their scope, and merge what is one.

    Calls the embedder, so it must not run inside a transaction. Names of cosine 0.92
    and more are one; from 0.82 on only if a judge clearly says so (B391). Those with
    other numbers are not, however near, nor are those that a person has set apart.

    Args:
        space: Names of other spaces are embedded anew, and never compared (B392).
        batch: Names of one call of the embedder.
        judge: Asked about what is rather near; nobody when None.
        most: Names of this run.
    """
    run = Resolution(using, tenant, space, embed, judge, at)
    after, seen, compared, merges = NIL, 0, 0, 0
    while seen < most:
        found = waiting(
            using=using, tenant=tenant, space=space, after=after, rows=batch
        )
        if not found:
            return Resolved(compared, merges, seen - compared)
        after, seen = found[-1].id, seen + len(found)
        try:
            for one, vector in run.vectors(found):
                merges += run.settle(one, vector)
                compared += 1
        except ProviderUnavailable as error:
            return Resolved(compared, merges, outage=str(error))
    # Where the embedder refused all, the next would be refused the same.
    return Resolved(compared, merges, seen - compared, more=compared > 0)


@for_tenant
def waiting(
    *, using: str, tenant: str, space: Space, after: uuid.UUID = NIL, rows: int = 1
) -> list[Waiting]:
    """Return names that have no vector of a space, the oldest first. One query."""
    given = {"tenant": tenant, "space_id": space.id, "after": after, "rows": rows}
    found = queries.fetch(using, named("entities")["names_waiting"], given)
    return [
        Waiting(
            row["id"],
            row["name"],
            Scope(tenant, row["owner"], row["agent"], row["thread"]),
        )
        for row in found
    ]


def numbers(name: str) -> list[str]:
    """Return the numbers in a name: what tells "room 12" from "room 13" (B357)."""
    return "".join(c if c.isdecimal() else " " for c in name).split()
