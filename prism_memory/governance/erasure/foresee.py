"""Count what an erasure would remove, and what holds would keep. Changes nothing."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Model
from psycopg import sql

from prism_memory.access import held
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.db.tenancy import for_tenant
from prism_memory.governance.erasure.receipts import count_kept
from prism_memory.governance.erasure.target import Target, find, named_tables
from prism_memory.lifecycle.registry import tables_of_record
from prism_memory.types import Foreseen, Scope


@for_tenant
def foresee(
    *,
    using: str,
    scope: Scope,
    record_id: uuid.UUID | None = None,
    source_key: str | None = None,
) -> Foreseen:
    """Count what ``erase`` would remove now, and what it would keep.

    Raises:
        Invalid: As ``erase``.
    """
    target = find(using=using, scope=scope, record_id=record_id, source_key=source_key)
    if not target.found:
        return Foreseen(target.level, target.ref, found=False)
    found = _reached(using, target)
    free = [row["id"] for row in found if not row["held"]]
    counts = {
        model._meta.db_table: _count(using, model, target, column, free)  # noqa: SLF001
        for model, column in tables_of_record()
    }
    if target.is_scope:
        for model in named_tables():
            rows = model._default_manager.using(using).filter(target.by_names())  # noqa: SLF001
            counts[model._meta.db_table] = rows.count()  # noqa: SLF001
    there = count_kept(using=using, target=target)
    mine = [row for row in found if row["mine"]]
    kept = {
        "records": there["records"] - sum(not row["held"] for row in mine),
        "derived": sum(row["held"] and not row["mine"] for row in found),
    }
    derived = sum(not (row["mine"] or row["held"]) for row in found)
    counts = {table: count for table, count in counts.items() if count}
    return Foreseen(
        target.level, target.ref, found=True, counts=counts, derived=derived, kept=kept
    )


def _reached(using: str, target: Target) -> list[dict[str, Any]]:
    within = sql.SQL(named("erasure")[f"{target.family}_roots"])
    if target.is_scope:
        within = sql.SQL(within.as_string(None)).format(within=target.within)  # type: ignore[assignment]
    statement = composed("erasure", "foreseen", held=held(), roots=within)
    return queries.fetch(using, statement, target.parameters())


def _count(
    using: str, model: type[Model], target: Target, column: str, ids: list[uuid.UUID]
) -> int:
    rows = model._base_manager.using(using).filter(tenant=target.tenant)  # noqa: SLF001
    return int(rows.filter(**{f"{column}__in": ids}).count()) if ids else 0
