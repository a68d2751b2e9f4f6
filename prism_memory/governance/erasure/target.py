"""What is to be erased: a record, a source, or a scope with all below it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Model, Q, QuerySet
from psycopg import sql

from prism_memory.db.queries import named
from prism_memory.errors import Invalid
from prism_memory.lifecycle.registry import ERASURE, WithScope
from prism_memory.models import LegalHold, Record, Source
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import (
    SCOPE_NAMESPACE,
    ErasureLevel,
    Scope,
    check_name,
    record_ref,
)

SCOPE_LEVELS: Final = (
    ErasureLevel.TENANT,
    ErasureLevel.OWNER,
    ErasureLevel.AGENT,
    ErasureLevel.THREAD,
)

WITHIN: Final = {
    ErasureLevel.TENANT: "within_tenant",
    ErasureLevel.OWNER: "within_owner",
    ErasureLevel.AGENT: "within_agent",
    ErasureLevel.THREAD: "within_thread",
}
"""What of ``db/sql/erasure.sql`` says whether a scope is of such a one."""


@dataclass(frozen=True)
class Target:
    """What is to be erased.

    Args:
        ref: ``record:``, ``source:`` or ``scope:`` and its id.
        scope: That it is in, or the scope itself.
        found: There is something of that name.
    """

    level: ErasureLevel
    ref: str
    scope: Scope
    found: bool = True

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self.scope.tenant

    @property
    def id(self) -> uuid.UUID:
        """The id in its ref."""
        return uuid.UUID(self.ref.partition(":")[2])

    @property
    def is_scope(self) -> bool:
        """Whether it is a scope, with all below it."""
        return self.level in SCOPE_LEVELS

    @property
    def scope_ids(self) -> list[str]:
        """The ids of its scope and of those above: by them its receipt is found."""
        return [str(place.id) for place in self.scope.chain()]

    @property
    def family(self) -> str:
        """``record``, ``source`` or ``scope``."""
        return "scope" if self.is_scope else self.level.value

    @property
    def within(self) -> sql.SQL:
        """Whether a row called ``place`` belongs to this scope, as SQL."""
        level = self.level if self.is_scope else ErasureLevel.THREAD
        return sql.SQL(named("erasure")[WITHIN[level]])

    def parameters(self) -> dict[str, Any]:
        """Return the values of the statements' parameters."""
        return {
            "tenant": self.tenant,
            "owner": self.scope.owner,
            "agent": self.scope.agent,
            "thread": self.scope.thread,
            "scope_id": self.scope.id,
            "source_id": self.id if self.level is ErasureLevel.SOURCE else None,
            "record_id": self.id if self.level is ErasureLevel.RECORD else None,
        }

    def by_names(self) -> Q:
        """Return which rows bear the names of this scope, or of one below it."""
        names = {"tenant": self.tenant}
        if self.level is not ErasureLevel.TENANT:
            names["owner"] = self.scope.owner
        if self.level in {ErasureLevel.AGENT, ErasureLevel.THREAD}:
            names["agent"] = self.scope.agent
        if self.level is ErasureLevel.THREAD:
            names["thread"] = self.scope.thread
        return Q(**names)


def scope_level(scope: Scope) -> ErasureLevel:
    """Return of which level a scope is."""
    if scope.thread:
        return ErasureLevel.THREAD
    if scope.agent:
        return ErasureLevel.AGENT
    return ErasureLevel.OWNER if scope.owner else ErasureLevel.TENANT


def named_tables() -> list[type[Model]]:
    """Return the tables whose rows bear a scope's names, row of the scope or not."""
    return [
        model
        for model, how in ERASURE.items()
        if isinstance(how, WithScope) and how.by_names
    ]


def holds_by_name(*, using: str, target: Target) -> QuerySet[LegalHold]:
    """Return the holds that bear the names of a scope, or of one below it.

    They may: nothing need be written yet where one is placed.
    """
    rows = LegalHold.objects.using(using).filter(target.by_names(), level="scope")
    return rows.exclude(owner="")


def released_holds(*, using: str, target: Target) -> QuerySet[LegalHold]:
    """Return those of them that keep nothing any more."""
    holds = holds_by_name(using=using, target=target)
    return holds.filter(released_at__isnull=False)


def has_row(*, using: str, scope: Scope) -> bool:
    """Tell whether anything was ever written to exactly this scope. One query."""
    return ScopeRow.objects.using(using).at(scope).exists()


def find(
    *,
    using: str,
    scope: Scope,
    record_id: uuid.UUID | None = None,
    source_key: str | None = None,
) -> Target:
    """Return what is meant: in exactly ``scope``, or the scope itself.

    One to four queries.

    Raises:
        Invalid: A record and a source at once, or a key that none can have.
    """
    if record_id is not None and source_key is not None:
        message = "Erase a record, a source, or the scope: give one of them."
        raise Invalid(message, field="source")
    if record_id is not None:
        rows = Record.objects.using(using).filter(scope_id=scope.id)
        there = rows.filter(tenant=scope.tenant, id=record_id).exists()
        return Target(ErasureLevel.RECORD, record_ref(record_id), scope, there)
    if source_key is not None:
        return _source(using, scope, check_name(source_key, "source"))
    target = Target(scope_level(scope), f"scope:{scope.id}", scope)
    found = ScopeRow.objects.using(using).filter(target.by_names()).exists() or any(
        model._default_manager.using(using).filter(target.by_names()).exists()  # noqa: SLF001
        for model in named_tables()
    )
    found = found or released_holds(using=using, target=target).exists()
    return Target(target.level, target.ref, scope, found)


def _source(using: str, scope: Scope, key: str) -> Target:
    rows = Source.objects.using(using).filter(tenant=scope.tenant, scope_id=scope.id)
    row = rows.filter(key=key).first()
    # Nobody's id, but the same for the same key: the receipt must not hold the key.
    source_id = row.id if row else uuid.uuid5(SCOPE_NAMESPACE, f"{scope.id}\0{key}")
    return Target(ErasureLevel.SOURCE, f"source:{source_id}", scope, row is not None)


def named_by(*, using: str, tenant: str, level: str, ref: str) -> Target | None:
    """Return what a ref names, or None where its row is gone. One query."""
    target_id = ref.partition(":")[2]
    scopes = ScopeRow.objects.using(using).filter(tenant=tenant)
    if level in {ErasureLevel.RECORD, ErasureLevel.SOURCE}:
        model = Record if level == ErasureLevel.RECORD else Source
        rows = model._default_manager.using(using).filter(tenant=tenant, id=target_id)  # noqa: SLF001 - of either model
        scopes = scopes.filter(id__in=list(rows.values_list("scope_id", flat=True)))
    else:
        scopes = scopes.filter(id=target_id)
    row = scopes.first()
    return None if row is None else Target(ErasureLevel(level), ref, row.value)


def records_below(*, using: str, target: Target) -> int:
    """Count the records of a scope and of all below it. One query."""
    places = ScopeRow.objects.using(using).filter(target.by_names())
    records = Record.objects.using(using).filter(tenant=target.tenant)
    return records.filter(scope_id__in=places.values("id")).count()
