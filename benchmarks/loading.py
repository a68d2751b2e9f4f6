"""Fill the tables by COPY with exactly the rows that the app itself would write."""

from __future__ import annotations

import datetime as dt
import os
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from django.utils import timezone
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql

from benchmarks.corpus import Corpus, Vectors
from prism_memory import backends, indexing
from prism_memory.conf import Limits, settings
from prism_memory.indexing import Space
from prism_memory.lifecycle.entries import Row, prepare
from prism_memory.redaction import Redaction
from prism_memory.types import Entry, Origin, Scope, Trust

ORIGIN: Final = Origin(Trust.USER, "benchmarks")
CHUNK_ROWS: Final = 20_000
BUILD_MEGABYTES: Final = 2_048
"""256 MB hold the graph of 160,000 vectors; beyond, each costs as much as an insert."""
TABLES: Final = ("tenant", "scope", "record", "embedding")

RECORD: Final = (
    *("id", "tenant", "scope_id", "kind", "tier", "namespace", "partition", "key"),
    *("text", "language", "sha256", "uses", "metadata", "trust", "writer"),
    *("consent_source", "consent_scope", "visible", "granted_at"),
    *("gate", "gate_reason", "gate_markers", "created_at", "version"),
)
EMBEDDING: Final = {
    "tenant": "text",
    "space_id": "int4",
    "record_id": "uuid",
    "scope_id": "uuid",
    "sha256": "bytea",
    "vector": "halfvec",
    "attempts": "int4",
    "error": "text",
    "next_try_at": "timestamptz",
    "created_at": "timestamptz",
}


@dataclass(frozen=True)
class Loaded:
    """What one call of ``load`` wrote."""

    ids: list[uuid.UUID]
    texts: list[str]


def connect(*, autocommit: bool = True) -> psycopg.Connection[Any]:
    """Return a connection of psycopg's own to the run's database."""
    connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=autocommit)
    register_vector(connection)
    return connection


def space() -> Space:
    """Return the active space of the default embedder, made on first use."""
    alias = settings.EMBEDDER
    identity = backends.get_embedder(alias).identity
    return indexing.active(using="default", alias=alias, identity=identity)


def load(corpus: Corpus, places: Sequence[Scope]) -> Loaded:
    """Write one embedded record for each scope of ``places``, in that order.

    A table that grew much is analysed and vacuumed, as autovacuum would do in time.
    """
    loaded = Loaded([], [])
    active = space()
    with connect(autocommit=False) as connection:
        for start in range(0, len(places), CHUNK_ROWS):
            part = places[start : start + CHUNK_ROWS]
            rows = prepared(corpus.texts(len(part)))
            write_rows(connection, active, part, rows, corpus.vectors(len(part)))
            loaded.ids.extend(row.id for row in rows)
            loaded.texts.extend(row.entry.text for row in rows)
    vacuum()
    return loaded


def prepared(texts: Sequence[str]) -> tuple[Row, ...]:
    """Return the rows that ``remember`` would store for these texts."""
    return prepare(
        [Entry(text) for text in texts],
        origin=ORIGIN,
        limits=Limits(),
        redaction=Redaction.configured(None, ()),
    )


def write_rows(
    connection: psycopg.Connection[Any],
    active: Space,
    places: Sequence[Scope],
    rows: Sequence[Row],
    vectors: Vectors,
) -> None:
    """Write rows with their vectors and scopes, and commit."""
    at = timezone.now()
    write_scopes(connection, places, at)
    copy_records(connection, places, rows, at)
    copy_embeddings(connection, active, places, rows, vectors, at)
    connection.commit()


def write_scopes(
    connection: psycopg.Connection[Any], places: Sequence[Scope], at: dt.datetime
) -> None:
    """Add the tenants, and to each scope how many vectors it will hold more."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO prism_memory_tenant (name, created_at) VALUES (%s, %s)"
            " ON CONFLICT DO NOTHING",
            [(name, at) for name in sorted({scope.tenant for scope in places})],
        )
        cursor.executemany(
            "INSERT INTO prism_memory_scope AS scope"
            " (id, tenant, owner, agent, thread, vectors, created_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, id)"
            " DO UPDATE SET vectors = scope.vectors + excluded.vectors",
            [
                (s.id, s.tenant, s.owner, s.agent, s.thread, count, at)
                for s, count in Counter(places).items()
            ],
        )


def copy_records(
    connection: psycopg.Connection[Any],
    places: Sequence[Scope],
    rows: Sequence[Row],
    at: dt.datetime,
) -> None:
    """COPY the records."""
    statement = sql.SQL("COPY prism_memory_record ({}) FROM STDIN").format(
        sql.SQL(", ").join(map(sql.Identifier, RECORD))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for values in _records(places, rows, at):
            copy.write_row(values)


def _records(
    places: Sequence[Scope], rows: Sequence[Row], at: dt.datetime
) -> Iterator[tuple[Any, ...]]:
    ids = {scope: scope.id for scope in set(places)}
    for scope, row in zip(places, rows, strict=True):
        entry = row.entry
        yield (
            *(row.id, scope.tenant, ids[scope], entry.kind.value, entry.tier.value),
            *(entry.namespace, entry.partition, row.key, entry.text, row.language),
            *(row.sha256, 1, row.metadata_json, row.origin.trust.value),
            *(row.origin.writer, row.default_consent, "thread", True, at),
            *("open", "", "[]", at, 1),
        )


def copy_embeddings(
    connection: psycopg.Connection[Any],
    active: Space,
    places: Sequence[Scope],
    rows: Sequence[Row],
    vectors: Vectors,
    at: dt.datetime,
) -> None:
    """COPY the vectors."""
    statement = sql.SQL(
        "COPY prism_memory_embedding ({}) FROM STDIN (FORMAT binary)"
    ).format(sql.SQL(", ").join(map(sql.Identifier, EMBEDDING)))
    ids = {scope: scope.id for scope in set(places)}
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(EMBEDDING.values()))
        for scope, row, vector in zip(places, rows, vectors, strict=True):
            copy.write_row(
                (
                    *(scope.tenant, active.id, row.id, ids[scope], row.embed_sha256),
                    *(HalfVector(vector), 1, "", at, at),
                )
            )


def vacuum() -> None:
    """VACUUM and ANALYZE what the benchmarks fill."""
    with connect() as connection:
        for table in TABLES:
            name = sql.Identifier(f"prism_memory_{table}")
            connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(name))


def empty() -> None:
    """Take everything out again."""
    indexing.drop_index(using="default", space=space())
    names = sql.SQL(", ").join(
        sql.Identifier(f"prism_memory_{table}") for table in TABLES
    )
    with connect() as connection:
        connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))


def build_index() -> Space:
    """Build the HNSW index, and let readers know of it at once."""
    active = space()
    indexing.create_index(
        using="default", space=active, memory_megabytes=BUILD_MEGABYTES
    )
    known = indexing.known_space(
        using="default", alias=active.alias, identity=active.identity, fresh=True
    )
    if known is None:
        message = "The space is gone."
        raise RuntimeError(message)
    return known
