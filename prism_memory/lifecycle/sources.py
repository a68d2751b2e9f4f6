"""The sources that records are written to, and those that they leave."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Conflict
from prism_memory.lifecycle.entries import Row
from prism_memory.types import Scope, SourceKind, SourceState, uuid7


def ensure_sources(
    *,
    using: str,
    scope: Scope,
    rows: Iterable[Row],
    left: Collection[uuid.UUID],
    at: dt.datetime,
) -> dict[str, uuid.UUID]:
    """Store the sources of rows unless they are there; return them by their keys.

    They are locked until the transaction ends, with those that records leave: who holds
    one, or removes it, waits. Two queries; none where there are no sources.

    Args:
        left: Sources that records of the batch stand in, and will not any more.

    Raises:
        Conflict: One is a document, which is ingested whole, or is retired.
    """
    first: dict[str, Row] = {}
    for row in rows:
        if row.entry.source:
            first.setdefault(row.entry.source.key, row)
    if not first and not left:
        return {}
    given = {
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "at": at,
        "ids": [uuid7() for _ in first],
        "keys": list(first),
        "uris": [row.entry.source.uri for row in first.values() if row.entry.source],
        "trusts": [row.origin.trust.value for row in first.values()],
        "writers": [row.origin.writer for row in first.values()],
        "left": list(left),
    }
    sql = named("remember")
    while True:  # one that was empty may just be removed
        if first:
            queries.execute(using, sql["ensure_sources"], given)
        found: list[dict[str, Any]] = queries.fetch(using, sql["find_sources"], given)
        sources = {row["key"]: row["id"] for row in found}
        if first.keys() <= sources.keys():
            _refuse_closed(row for row in found if row["key"] in first)
            return sources


def _refuse_closed(found: Iterable[Mapping[str, Any]]) -> None:
    """Do nothing if records may be written to sources that were found.

    Raises:
        Conflict: One is a document, or is retired.
    """
    for row in found:
        if row["kind"] == SourceKind.DOCUMENT:
            message = "A document has that key: it is ingested, not remembered."
            raise Conflict(message, field="source.key")
        if row["state"] != SourceState.ACTIVE:
            message = "The source is retired: restore it first."
            raise Conflict(message, field="source.key")
