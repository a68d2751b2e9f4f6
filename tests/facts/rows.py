"""Facts by plain rows, linked to their entities: what these tests need of a claim."""

from __future__ import annotations

import uuid
from typing import Any

from prism_memory.facts.linking import link
from prism_memory.models import Entity, Fact, Mention
from prism_memory.types import Kind, Scope
from tests.factories import NOON, make_record, make_scope


def make_fact(
    subject: str,
    value: str = "",
    *,
    text: str = "",
    scope: Scope | None = None,
    wait: bool = False,
    tags: list[str] | None = None,
    **columns: Any,
) -> uuid.UUID:
    """Write a fact and its record, and link it; return its id.

    Args:
        text: The statement; subject and value when empty.
        wait: Make its vector too.
        columns: Of the record's row, as ``gate``.
    """
    scope = scope or make_scope()
    record = make_record(
        text or f"{subject} is {value}.",
        scope=scope,
        wait=wait,
        fields={"kind": Kind.NOTE, "metadata": {"tags": tags or []}},
        **{"kind": Kind.FACT.value, **columns},
    )
    Fact.objects.create(
        id=record.id,
        tenant=scope.tenant,
        record_id=record.id,
        scope_id=scope.id,
        key=str(record.id),
        subject=subject,
        value=value,
    )
    link(
        using="default",
        scope=scope,
        fact_id=record.id,
        subject=subject,
        value=value,
        at=NOON,
    )
    return record.id


def entity(name: str, scope: Scope | None = None) -> Entity:
    """Return the entity of a folded name."""
    scope = scope or make_scope()
    return Entity.objects.get(tenant=scope.tenant, scope_id=scope.id, name=name)


def links(fact_id: uuid.UUID, tenant: str = "acme") -> dict[str, str]:
    """Return by role the name that a fact is linked to."""
    found = Mention.objects.filter(tenant=tenant, fact_id=fact_id)
    return dict(found.values_list("role", "entity__name"))
