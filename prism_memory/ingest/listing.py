"""Read sources: what there is, how far they are, and their chunks in order."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from prism_memory.access import Reader, source_placed, visible
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import NotVisible
from prism_memory.indexing import Space
from prism_memory.recall import cursors
from prism_memory.recall.intact import intact_items
from prism_memory.recall.items import item
from prism_memory.types import (
    NIL,
    ChunkPage,
    Ingestion,
    IngestionState,
    Scope,
    SourceItem,
    SourceKind,
    SourcePage,
    SourceState,
    Trust,
)

SOURCES = "sources"
CHUNKS = "chunks"


@dataclass(frozen=True)
class Counts:
    """How many vectors of a source are made, wait, and were given up."""

    indexed: int = 0
    pending: int = 0
    failed: int = 0
    error: str = ""

    @property
    def state(self) -> IngestionState:
        """What that makes of it. Without vectors to make, words are all there is."""
        if self.pending:
            return IngestionState.PENDING
        if self.failed:
            partial = bool(self.indexed)
            return IngestionState.PARTIAL if partial else IngestionState.FAILED
        return IngestionState.INDEXED


def list_sources(
    *, using: str, reader: Reader, space: Space | None, rows: int, cursor: str | None
) -> SourcePage:
    """Return a page of the sources of a reader's scopes, by id. One query, or two.

    Raises:
        Invalid: The cursor is none of this list.
    """
    after = NIL if cursor is None else _id(cursors.read(cursor, SOURCES, 1)[0])
    given = reader.parameters() | {"after": after, "rows": rows + 1}
    statement = composed("ingest", "list_sources", placed=source_placed(reader=reader))
    found = queries.fetch(using, statement, given)
    shown = found[:rows]
    # What was all there when somebody last looked is not counted again.
    moving = [row["id"] for row in shown if row["ingestion"] != IngestionState.INDEXED]
    counts = count(using=using, tenant=reader.scope.tenant, space=space, ids=moving)
    items = tuple(_item(row, reader.scope, counts.get(row["id"])) for row in shown)
    more = len(found) > rows
    following = cursors.write(SOURCES, shown[-1]["id"].hex) if more else None
    return SourcePage(items, following)


def get_source(
    *, using: str, reader: Reader, space: Space | None, key: str
) -> SourceItem:
    """Return one source of a reader's scopes, the narrowest's. Two queries.

    Raises:
        NotVisible: There is none of that key.
    """
    given = reader.parameters() | {"key": key}
    statement = composed("ingest", "get_source", placed=source_placed(reader=reader))
    rows = queries.fetch(using, statement, given)
    if not rows:
        message = "No such source."
        raise NotVisible(message, field="key")
    (row,) = rows
    tenant = reader.scope.tenant
    counts = count(using=using, tenant=tenant, space=space, ids=[row["id"]])
    return _item(row, reader.scope, counts.get(row["id"], Counts()))


def read_chunks(
    *, using: str, reader: Reader, source: SourceItem, rows: int, cursor: str | None
) -> ChunkPage:
    """Return a page of a source's records in sight, by (ordinal, id). One query.

    Raises:
        Invalid: The cursor is none of this list.
    """
    found = visible(using=using, reader=reader).select_related("scope", "source")
    found = found.filter(source_id=source.id, ordinal__isnull=False)
    if cursor is not None:
        ordinal, record_id = cursors.place(*cursors.read(cursor, CHUNKS))
        found = found.filter(
            Q(ordinal__gt=ordinal) | Q(ordinal=ordinal, id__gt=record_id)
        )
    page = list(found.order_by("ordinal", "id")[: rows + 1])
    shown = [item(record) for record in page[:rows]]
    following = None
    if len(page) > rows:
        last = page[rows - 1]
        following = cursors.write(CHUNKS, last.ordinal or 0, last.id.hex)
    items = tuple(intact_items(using, reader.scope.tenant, shown))
    return ChunkPage(source, items, following)


def count(
    *, using: str, tenant: str, space: Space | None, ids: Collection[uuid.UUID]
) -> Mapping[uuid.UUID, Counts]:
    """Count the vectors of some sources. One query, none without any."""
    if space is None or not ids:
        return {}
    given = {"tenant": tenant, "space_id": space.id, "source_ids": list(ids)}
    rows: Sequence[dict[str, Any]] = queries.fetch(
        using, named("ingest")["states_of_sources"], given
    )
    return {row.pop("id"): Counts(**row) for row in rows}


def _item(
    row: Mapping[str, Any], seen_from: Scope, counts: Counts | None
) -> SourceItem:
    ingestion = Ingestion(
        state=counts.state if counts else IngestionState.INDEXED,
        bytes=row["bytes"],
        chunks=row["chunks"],
        pending=counts.pending if counts else 0,
        failed=counts.failed if counts else 0,
        error=counts.error if counts else "",
    )
    metadata = row["metadata"]
    return SourceItem(
        id=row["id"],
        key=row["key"],
        uri=row["uri"],
        kind=SourceKind(row["kind"]),
        scope=Scope(seen_from.tenant, row["owner"], row["agent"], row["thread"]),
        trust=Trust(row["trust"]),
        writer=row["writer"],
        state=SourceState(row["state"]),
        ingestion=ingestion,
        chunker=row["chunker"],
        language=row["language"],
        metadata=json.loads(metadata) if isinstance(metadata, str) else metadata,
        created_at=_utc(row["created_at"]),
        ingested_at=row["ingested_at"] and _utc(row["ingested_at"]),
        retired_at=row["retired_at"] and _utc(row["retired_at"]),
    )


def _utc(moment: dt.datetime) -> dt.datetime:
    return moment.astimezone(dt.UTC)


def _id(value: object) -> uuid.UUID:
    try:
        return uuid.UUID(hex=str(value))
    except ValueError:
        raise cursors.unknown() from None
