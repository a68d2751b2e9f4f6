"""What can go wrong with indexes and vectors, looked for. It changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from prism_memory import backends
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import EmbedderMismatch, Misconfigured
from prism_memory.indexing.hnsw import index_name, index_state, is_being_built
from prism_memory.indexing.spaces import Space, embedder_of, space_of
from prism_memory.models import EmbeddingSpace, Record, SpaceState
from prism_memory.types.findings import Finding

OURS: Final = "prism_memory_hnsw_"
CHANGED_ROWS: Final = 1_000
DEAD_ROWS: Final = 10_000
SHARE: Final = 0.2
"""A table is told of from so many rows on, and from this share of its rows."""

QUEUED: Final = "The worker, or prism_memory_index drain, embeds them."
REBUILD: Final = "Run prism_memory_index rebuild."
CREATE: Final = "Run prism_memory_index create."


def examine(*, using: str, tenants: Collection[str]) -> Iterator[Finding]:
    """Yield what is wrong with indexes, vectors and the planner's numbers.

    Reads every vector of these tenants once, in a query a tenant and space.
    """
    rows = EmbeddingSpace.objects.using(using).order_by("id")
    spaces = [space_of(row) for row in rows]
    for space in spaces:
        yield from of_space(space)
        yield from of_index(using, space, tenants)
    yield from of_catalogue(using, spaces)
    yield from of_tables(using)
    active = [one for one in spaces if one.state == SpaceState.ACTIVE]
    for tenant in tenants:
        for space in spaces:
            yield from of_vectors(using, tenant, space)
        if len(active) == 1:  # of several, the counts hold them all
            yield from of_counts(using, tenant, active[0])


def of_space(space: Space) -> Iterator[Finding]:
    """Yield what of a space is not as the settings say. No query."""
    where: dict[str, Any] = {"subject": f"space {space.id}", "space_id": space.id}
    if space.state in (SpaceState.RETIRED, SpaceState.DROPPING):
        return
    try:
        embedder_of(space)
    except (EmbedderMismatch, Misconfigured) as error:
        meaning = "its embedder is another one now, or cannot be made"
        yield Finding(
            "embedder_changed", meaning, **where, curable=False, advice=str(error)
        )
    if space.situate not in {"", settings.SITUATE}:
        meaning = f"its texts were indexed with SITUATE {space.situate}"
        yield Finding(
            "situate_changed", meaning, **where, curable=False, advice=REBUILD
        )


def of_index(using: str, space: Space, tenants: Collection[str]) -> Iterator[Finding]:
    """Yield whether the index of a space is lost, half made, or wanted (C06)."""
    name = index_name(space)
    state = index_state(using=using, space=space)
    where: dict[str, Any] = {"subject": name, "space_id": space.id}
    if state.exists and not state.valid:
        if not is_being_built(using=using, space=space):
            meaning = "the vector index is half made; recall reads exactly"
            yield Finding("index_invalid", meaning, **where)
    elif space.state == SpaceState.ACTIVE and not state.exists:
        if space.indexed:
            meaning = "the vector index is gone; recall stays right and gets slow"
            yield Finding("index_missing", meaning, **where)
        elif settings.VECTOR_INDEX == "pgvector" and _is_large(using, tenants):
            meaning = "a scope holds more than EXACT_SCAN_ROWS vectors, without index"
            yield Finding("index_wanted", meaning, **where, advice=CREATE)


def of_catalogue(using: str, spaces: Collection[Space]) -> Iterator[Finding]:
    """Yield vector indexes of no space, and indexes that the models declare. One query.

    Full text, B290: its column is made by PostgreSQL itself; only the index can go.
    """
    sql = named("doctor")["indexes_of_our_tables"]
    found = {row["name"]: row for row in queries.fetch(using, sql, {})}
    known = {index_name(space) for space in spaces}
    for name in found:
        if name.startswith(OURS) and name not in known:
            meaning = "a vector index of a space that is not there"
            yield Finding("index_left_over", meaning, name)
    for name in declared():
        if name not in found:
            meaning = "an index of the records is gone; what it serves gets slow"
            yield Finding("record_index_missing", meaning, name)
        elif not found[name]["valid"] and not found[name]["built"]:
            meaning = "an index of the records is half made"
            yield Finding("record_index_invalid", meaning, name)


def declared() -> list[str]:
    """Return the names of the indexes that the model of records declares."""
    return [index.name for index in Record._meta.indexes]  # noqa: SLF001 - Django's


def of_tables(using: str) -> Iterator[Finding]:
    """Yield tables that are bloated or mislead the planner. One query."""
    for row in queries.fetch(using, named("doctor")["statistics_of_tables"], {}):
        name, live = row["table_name"], row["live"]
        if row["dead"] > max(DEAD_ROWS, SHARE * live):
            meaning = "many dead rows: it takes more room and time than it has to"
            yield Finding("table_bloated", meaning, name, count=row["dead"])
        elif live >= CHANGED_ROWS and not row["analyzed"]:
            meaning = "the planner was never told what it holds"
            yield Finding("statistics_missing", meaning, name, count=live)
        elif row["changed"] > max(CHANGED_ROWS, SHARE * live):
            meaning = "the planner's numbers are old"
            yield Finding("statistics_old", meaning, name, count=row["changed"])


def of_vectors(using: str, tenant: str, space: Space) -> Iterator[Finding]:
    """Yield what is wrong with a tenant's vectors in a space. Two queries at most."""
    given = {
        "tenant": tenant,
        "space_id": space.id,
        "dimensions": space.identity.dimensions,
    }
    where: dict[str, Any] = {
        "subject": f"space {space.id}",
        "tenant": tenant,
        "space_id": space.id,
    }
    (row,) = queries.fetch(using, named("doctor")["vectors_amiss"], given)
    if count := row["orphaned"]:
        meaning = "vectors of records that are retired, or not there"
        yield Finding("vectors_orphaned", meaning, **where, count=count)
    if count := row["drifted"]:
        meaning = "vectors of another width than the space"
        yield Finding("width_drift", meaning, **where, count=count, advice=QUEUED)
    if space.state != SpaceState.ACTIVE:
        return  # who builds it, or switches back to it, makes the rest good
    if count := row["stale"]:
        meaning = "vectors of another text than the record has now"
        yield Finding("vectors_stale", meaning, **where, count=count, advice=QUEUED)
    if count := row["failed"]:
        meaning = "texts that the embedder was given up on"
        advice = "prism_memory_index retry tries them again."
        yield Finding(
            "vectors_failed",
            meaning,
            **where,
            count=count,
            curable=False,
            advice=advice,
        )
    if not backends.are_vectors_used():
        return
    (row,) = queries.fetch(using, named("doctor")["records_without_vectors"], given)
    if count := row["missing"]:
        meaning = "records without a vector, and not in the queue"
        yield Finding("vectors_missing", meaning, **where, count=count, advice=QUEUED)


def of_counts(using: str, tenant: str, space: Space) -> Iterator[Finding]:
    """Yield scopes whose vectors are miscounted: the planner reads that. One query."""
    given = {"tenant": tenant, "space_id": space.id}
    (row,) = queries.fetch(using, named("doctor")["counts_off"], given)
    if count := row["off"]:
        meaning = "scopes whose number of vectors is not the one that is noted"
        yield Finding(
            "counts_off",
            meaning,
            subject=f"space {space.id}",
            tenant=tenant,
            space_id=space.id,
            count=count,
        )


def _is_large(using: str, tenants: Collection[str]) -> bool:
    sql = named("doctor")["largest_count"]
    return any(
        queries.fetch(using, sql, {"tenant": tenant})[0]["vectors"]
        > settings.EXACT_SCAN_ROWS
        for tenant in tenants
    )
