"""Find, make and lock a source of exactly one scope."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from psycopg import sql

from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.errors import Conflict, NotVisible
from prism_memory.types import (
    Origin,
    Scope,
    SourceKind,
    SourceState,
    chunk_id,
    record_ref,
    uuid7,
    words_id,
    words_of,
)

ALONE: Final = sql.SQL("FOR UPDATE")
LOCKED: Final = sql.SQL("FOR NO KEY UPDATE")
TRIES: Final = 100
"""Erasures of one source that an ingest meets in a row, at most."""


def find_source(
    *, using: str, scope: Scope, key: str, lock: sql.SQL
) -> Mapping[str, Any] | None:
    """Return the row of a source, if it is there. One query.

    Args:
        lock: Nothing, or how it is locked until the transaction ends.
    """
    given = {"tenant": scope.tenant, "scope_id": scope.id, "key": key}
    statement = composed("ingest", "document", lock=lock)
    return next(iter(queries.fetch(using, statement, given)), None)


def lock_source(*, using: str, scope: Scope, key: str) -> Mapping[str, Any]:
    """Return the row of a source, which nobody else writes to meanwhile.

    Raises:
        NotVisible: There is none.
    """
    row = find_source(using=using, scope=scope, key=key, lock=ALONE)
    if row is None:
        message = "No such source in this scope."
        raise NotVisible(message, field="key")
    return row


def ensure_document(
    *,
    using: str,
    scope: Scope,
    key: str,
    uri: str,
    origin: Origin,
    chunker: str,
    language: str,
    at: dt.datetime,
) -> Mapping[str, Any]:
    """Return the row of a source, locked; it is made a document unless it is there.

    One query, or three.

    Raises:
        Conflict: It is erased again and again.
    """
    given = {
        "id": uuid7(),
        "tenant": scope.tenant,
        "scope_id": scope.id,
        "key": key,
        "uri": uri,
        "trust": origin.trust.value,
        "writer": origin.writer,
        "chunker": chunker,
        "language": language,
        "at": at,
    }
    tries = 0
    row = find_source(using=using, scope=scope, key=key, lock=LOCKED)
    while row is None and tries < TRIES:
        queries.execute(using, named("ingest")["ensure_document"], given)
        row = find_source(using=using, scope=scope, key=key, lock=LOCKED)
        tries += 1
    if row is None:
        message = "The source was erased each time it was made; try again."
        raise Conflict(message, field="key")
    return row


def refuse_other(source: Mapping[str, Any]) -> None:
    """Do nothing if a source is a document in use.

    Raises:
        Conflict: It is not.
    """
    if source["kind"] != SourceKind.DOCUMENT:
        message = "A stream has that key: its records are remembered, not ingested."
        raise Conflict(message, field="key")
    if source["state"] != SourceState.ACTIVE:
        message = "The source is retired: restore it first."
        raise Conflict(message, field="key")


def taken_out(
    *, using: str, scope: Scope, source_id: uuid.UUID, keys: Sequence[str]
) -> set[str]:
    """Return the keys of chunks whose words may not come into a document again.

    Somebody, or retention, took them out of memory; or hid or corrected them where the
    document says them too, at another place or in another generation. Two queries,
    none without keys.
    """
    if not keys:
        return set()
    tenant = scope.tenant
    refs = {
        key: {record_ref(make(tenant, key)) for make in (chunk_id, words_id)}
        for key in keys
    }
    given = {
        "tenant": tenant,
        "scope_id": scope.id,
        "source_id": source_id,
        "refs": sorted(set().union(*refs.values())),
        "words": sorted({words_of(key) for key in keys}),
    }
    sql = named("ingest")
    gone = {row["target_ref"] for row in queries.fetch(using, sql["taken_out"], given)}
    hidden = {row["words"] for row in queries.fetch(using, sql["hidden_words"], given)}
    return {key for key in keys if refs[key] & gone or words_of(key) in hidden}


def source_ref(source_id: uuid.UUID) -> str:
    """Return how the audit and holds name a source."""
    return f"source:{source_id}"
