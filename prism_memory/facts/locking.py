"""One fact that a verb is about: of exactly its scope, and locked."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from django.db.models import F, QuerySet

from prism_memory.errors import Conflict, NotVisible
from prism_memory.integrity import carried
from prism_memory.lifecycle.removal import lock_records
from prism_memory.lifecycle.versions import open_version
from prism_memory.models import Fact, FactVersion, Record
from prism_memory.types import Acceptance, Scope, check_name

Which = uuid.UUID | str


@dataclass(frozen=True)
class Locked:
    """A fact whose row, record and open version nobody else changes meanwhile."""

    fact: Fact
    version: FactVersion | None
    held: bool

    @property
    def current(self) -> FactVersion:
        """The version that is held now.

        Raises:
            Conflict: It was retracted or forgotten.
        """
        if self.version is None:
            raise closed(self.fact)
        return self.version

    def require_held(self) -> None:
        """Do nothing while some version is held.

        Raises:
            Conflict: It was retracted or forgotten.
        """
        if self.version is None:
            raise closed(self.fact)

    def require_here(self) -> None:
        """Do nothing unless it is archived.

        Raises:
            Conflict: It is.
        """
        if self.fact.archived_at is not None:
            message = "The fact is archived: take it back first."
            raise Conflict(message, field="id")

    @property
    def is_accepted(self) -> bool:
        """Whether it may be relied on."""
        return self.current.acceptance == Acceptance.ACCEPTED

    def require_open(self) -> None:
        """Do nothing unless it was superseded, retracted or forgotten.

        Raises:
            Conflict: It was.
        """
        if self.fact.closing:
            raise closed(self.fact)


def closed(fact: Fact) -> Conflict:
    """Return what is raised for a fact that is open no more."""
    return Conflict(f"The fact was {fact.closing} already.", field="id")


def find_fact(*, using: str, scope: Scope, which: Which) -> uuid.UUID:
    """Return the id of a fact of exactly ``scope``, by its id or its key. Two queries.

    A text that is a fact's id means that fact, whatever others have for a key. Of
    several with a key the open one is meant, then the newest.

    Raises:
        NotVisible: No such fact in this scope.
        Invalid: The text can be neither.
    """
    rows = _rows(using, scope)
    fact_id = which if isinstance(which, uuid.UUID) else _as_id(which)
    found = None
    if fact_id is not None:
        found = rows.filter(id=fact_id).values_list("id", flat=True).first()
    if found is None and isinstance(which, str):
        named = rows.filter(key=check_name(which, "id"))
        # Nulls first: the open one, which has no end.
        newest = named.order_by(F("closed_at").desc(nulls_first=True), "-id")
        found = newest.values_list("id", flat=True).first()
    if found is None:
        raise NotVisible
    return uuid.UUID(str(found))


def lock_fact(*, using: str, scope: Scope, which: Which) -> Locked:
    """Return a fact, locked until the transaction ends, its record first.

    Raises:
        NotVisible: No such fact in this scope.
    """
    fact_id = find_fact(using=using, scope=scope, which=which)
    records = lock_records(using=using, tenant=scope.tenant, ids=[fact_id])
    fact = (
        _rows(using, scope).filter(id=fact_id).select_for_update(of=("self",)).first()
    )
    if fact is None:  # it went while its lock was waited for
        raise NotVisible
    version = open_version(using=using, tenant=scope.tenant, fact_id=fact_id)
    return Locked(fact, version, records[fact_id])


def change_record(
    *, using: str, tenant: str, record_id: uuid.UUID, **columns: object
) -> None:
    """Write some columns of a fact's locked record, and keep its signature true."""
    rows = Record.objects.using(using).filter(tenant=tenant, id=record_id)
    version = rows.values_list("version", flat=True).get()
    with carried(using=using, tenant=tenant, record_ids=[record_id]):
        rows.update(version=version + 1, **columns)


def _rows(using: str, scope: Scope) -> QuerySet[Fact]:
    # The names decide, not the hash.
    return Fact.objects.using(using).filter(
        tenant=scope.tenant,
        scope_id=scope.id,
        scope__owner=scope.owner,
        scope__agent=scope.agent,
        scope__thread=scope.thread,
    )


def _as_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
