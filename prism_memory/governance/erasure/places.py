"""Remove what a scope holds beside records: sources, shares, traces, keys, itself."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from django.db.models import Model, Q, QuerySet
from psycopg import sql

from prism_memory.access import held
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.governance.erasure.entities import drop_unmentioned
from prism_memory.governance.erasure.pages import PAGE
from prism_memory.governance.erasure.target import (
    Target,
    named_tables,
    released_holds,
)
from prism_memory.lifecycle.registry import ERASURE, WithScope, WithSource
from prism_memory.models import (
    Entity,
    EntityMerge,
    Fact,
    LegalHold,
    Record,
    ShareGrant,
    ShareGrantItem,
    Source,
    Tombstone,
)
from prism_memory.models import Scope as ScopeRow

STONES: Final = Tombstone._meta.db_table  # noqa: SLF001 - Django has no other name
HOLD_NAMES: Final = "hold_names"
"""Released holds that lost their names, among the counts of a receipt."""

GUARDED = {Source, ScopeRow, Entity, EntityMerge}
"""Tables of which only those rows go that hold nothing, or that nothing speaks of."""


def lock_places(
    *, using: str, target: Target, after: uuid.UUID, rows: int | None
) -> list[dict[str, Any]]:
    """Lock scopes of a target, the next ones by id; tell which a hold covers."""
    parts = {"within": target.within, "covered": sql.SQL(named("erasure")["covered"])}
    given = {**target.parameters(), "after": after, "rows": rows}
    return queries.fetch(using, composed("erasure", "lock_places", **parts), given)


def lock_source(*, using: str, target: Target) -> list[dict[str, Any]]:
    """Lock the source that is the target; tell whether a hold covers its scope."""
    covered = sql.SQL(named("erasure")["covered"])
    statement = composed("erasure", "lock_source", covered=covered)
    return queries.fetch(using, statement, target.parameters())


def free_records(
    *, using: str, target: Target, scope_ids: Sequence[uuid.UUID], rows: int
) -> list[uuid.UUID]:
    """Return records of locked places that no hold keeps. One query, or none."""
    if target.family == "record":  # the page took it, and nobody can add another
        return []
    given = {**target.parameters(), "scope_ids": list(scope_ids), "rows": rows}
    statement = composed("erasure", f"free_of_{target.family}", held=held())
    return [row["id"] for row in queries.fetch(using, statement, given)]


def count_elsewhere(
    *, using: str, target: Target, kept: Collection[tuple[uuid.UUID, uuid.UUID]]
) -> int:
    """Count the records that are no part of the target. One query, or none.

    Args:
        kept: Ids of records, each with its scope's.
    """
    ids = [record_id for record_id, _ in kept]
    if not ids or target.family == "record":
        return len(ids)
    if target.is_scope:
        scopes = {scope_id for _, scope_id in kept}
        rows = ScopeRow.objects.using(using).filter(target.by_names())
        mine = set(rows.filter(id__in=scopes).values_list("id", flat=True))
        return sum(scope_id not in mine for _, scope_id in kept)
    found = Record.objects.using(using).filter(tenant=target.tenant)
    return len(ids) - found.filter(id__in=ids, source_id=target.id).count()


def facts_elsewhere(
    *, using: str, target: Target, ids: Collection[uuid.UUID]
) -> frozenset[uuid.UUID]:
    """Return those of some facts that are no part of the target. One query, or none."""
    if not ids or not target.is_scope:
        return frozenset(ids)
    mine = ScopeRow.objects.using(using).filter(target.by_names()).values("id")
    rows = Fact.objects.using(using).filter(tenant=target.tenant, id__in=ids)
    return frozenset(rows.exclude(scope_id__in=mine).values_list("id", flat=True))


def clear_places(
    *, using: str, target: Target, scope_ids: Sequence[uuid.UUID]
) -> Counter[str]:
    """Delete what is in locked scopes beside records, and those that are empty then.

    Args:
        scope_ids: Of scopes that no hold covers.
    """
    counts = clear_sources(using=using, target=target, scope_ids=scope_ids)
    for model, how in ERASURE.items():
        if isinstance(how, WithScope) and not how.by_names and model not in GUARDED:
            counts += _by_columns(using, target.tenant, model, how.columns, scope_ids)
    ids = entities_of(using=using, tenant=target.tenant, scope_ids=scope_ids)
    counts += drop_unmentioned(using=using, tenant=target.tenant, ids=ids)
    given = {"tenant": target.tenant, "scope_ids": list(scope_ids)}
    found = queries.fetch(using, named("erasure")["empty_places"], given)
    gone = [row["id"] for row in found]
    counts += _delete(using, ScopeRow, Q(tenant=target.tenant, id__in=gone))
    if gone:
        outside = {"tenant": target.tenant, "gone": [str(place) for place in gone]}
        statement = composed("erasure", "delete_outside", outside=outside_of())
        counts[STONES] += queries.execute(using, statement, outside)
    return counts


def entities_of(
    *, using: str, tenant: str, scope_ids: Collection[uuid.UUID]
) -> set[uuid.UUID]:
    """Return the entities of some scopes. One query."""
    rows = Entity.objects.using(using).filter(tenant=tenant, scope_id__in=scope_ids)
    return set(rows.values_list("id", flat=True))


def clear_sources(
    *, using: str, target: Target, scope_ids: Sequence[uuid.UUID]
) -> Counter[str]:
    """Delete the sources of locked scopes that hold nothing any more."""
    given = {**target.parameters(), "scope_ids": list(scope_ids)}
    found = queries.fetch(using, named("erasure")["empty_sources"], given)
    counts: Counter[str] = Counter()
    ids = [row["id"] for row in found]
    for model, how in ERASURE.items():
        if isinstance(how, WithSource):
            where = Q(**{"tenant": target.tenant, f"{how.column}__in": ids})
            counts += _delete(using, model, where)
    return counts + _delete(using, Source, Q(tenant=target.tenant, id__in=ids))


def clear_named(*, using: str, target: Target) -> Counter[str]:
    """Delete a page of the rows that bear the target's names; empty: none is left.

    What a hold on a scope covers stays.
    """
    counts: Counter[str] = Counter()
    for model, rows in named_rows(using=using, target=target):
        page = rows.order_by("id").values_list("id", flat=True)[:PAGE]
        where = Q(tenant=target.tenant, id__in=list(page))
        counts += _delete(using, model, where)
    return counts


def named_rows(
    *, using: str, target: Target
) -> list[tuple[type[Model], QuerySet[Any]]]:
    """Return the rows that bear the target's names and that no hold covers."""
    kept = _covered_by_names(using, target.tenant)
    found = []
    for model in named_tables():
        rows = model._default_manager.using(using).filter(target.by_names())  # noqa: SLF001
        found.append((model, rows.exclude(kept)))
    return found


def outside_of() -> sql.SQL:
    """Return which tombstones were named in scopes that are gone, as SQL."""
    return sql.SQL(named("erasure")["outside"])


def unname_holds(*, using: str, target: Target) -> Counter[str]:
    """Take the names of the target's scopes out of holds that were released."""
    rows = released_holds(using=using, target=target)
    return Counter({HOLD_NAMES: rows.update(owner="", agent="", thread="")})


def _covered_by_names(using: str, tenant: str) -> Q:
    """Return which rows bear the names of a scope under a hold."""
    holds = LegalHold.objects.using(using).filter(
        tenant=tenant, level="scope", released_at__isnull=True
    )
    covered = Q(pk__in=[])
    for hold in holds:
        levels = {"owner": hold.owner, "agent": hold.agent, "thread": hold.thread}
        if hold.thread:
            covered |= Q(**levels)
        else:
            covered |= Q(tenant=tenant, **{k: v for k, v in levels.items() if v})
    return covered


def _by_columns(
    using: str,
    tenant: str,
    model: type[Model],
    columns: Collection[str],
    scope_ids: Sequence[uuid.UUID],
) -> Counter[str]:
    where = Q()
    for column in columns:
        where |= Q(**{f"{column}__in": scope_ids})
    counts: Counter[str] = Counter()
    if model is ShareGrant:  # its list would go by itself, and not be counted
        grants = ShareGrant.objects.using(using).filter(where, tenant=tenant)
        lists = Q(tenant=tenant, grant_id__in=list(grants.values_list("id", flat=True)))
        counts += _delete(using, ShareGrantItem, lists)
    return counts + _delete(using, model, Q(tenant=tenant) & where)


def _delete(using: str, model: type[Model], where: Q) -> Counter[str]:
    rows: QuerySet[Any] = model._base_manager.using(using).filter(where)  # noqa: SLF001
    count: int | None = rows._raw_delete(using)  # noqa: SLF001 - no signals, no rows read
    name = model._meta.db_table  # noqa: SLF001 - Django has no other name for it
    return Counter({name: count or 0})  # none for no ids: no query
