"""Swap which generation of a scope's documents its readers see, and swap it back."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import transaction
from django.db.models import Count

from prism_memory import audit, models
from prism_memory.access import Reader, accessible
from prism_memory.db.expressions import NamedCondition
from prism_memory.db.tenancy import for_tenant
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.models import Record
from prism_memory.types import Actor, Generations, Scope, check_generation

ACTION = "scope.set_generation"


@for_tenant
def set_current_generation(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    at: dt.datetime,
    generation: int | None,
    reason: str = "",
) -> int | None:
    """Let readers of exactly ``scope`` see this generation; return the one before.

    A pointer alone changes, so all readers see the one or the other, whole. Setting
    what was returned rolls back. What has no generation is seen before and after.

    Args:
        generation: From 0; None: as before the first swap, when all are seen.
        reason: For the audit; no text content.

    Raises:
        LimitExceeded: ``generation`` is no integer, negative or too large.
    """
    wanted = None if generation is None else check_generation(generation)
    with transaction.atomic(using=using):
        ensure_scope(using=using, scope=scope, at=at)
        rows = models.Scope.objects.using(using).at(scope)
        row = rows.select_for_update(no_key=True).get()
        before: int | None = row.current_generation
        if before == wanted:
            return before
        rows.update(current_generation=wanted)
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action=ACTION,
            target=f"scope:{scope.id}",
            at=at,
            reason=reason,
            detail={"from": before, "to": wanted},
        )
    return before


@for_tenant
def generations(
    *, using: str, scope: Scope, reader: Reader | None = None
) -> Generations:
    """Return the generations of exactly ``scope``, and the current one. Two queries.

    Args:
        reader: Whose restricted documents count; all do when None, for who governs.
    """
    rows = models.Scope.objects.using(using).at(scope)
    current = rows.values_list("current_generation", flat=True).first()
    return Generations(current, _counted(using, scope, reader))


def _counted(using: str, scope: Scope, reader: Reader | None) -> dict[int, int]:
    records: Any = Record.objects.using(using).filter(
        # The names decide, not the hash.
        tenant=scope.tenant,
        scope_id=scope.id,
        scope__owner=scope.owner,
        scope__agent=scope.agent,
        scope__thread=scope.thread,
        generation__isnull=False,
        retired_at=None,
    )
    if reader is not None:
        rule = accessible(reader=reader).as_string(None)
        records = records.filter(NamedCondition(rule, reader.parameters()))
    counted = records.values("generation").annotate(records=Count("id"))
    return {row["generation"]: row["records"] for row in counted.order_by("generation")}
