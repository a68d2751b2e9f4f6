"""Vectors that were made before a document is stored, and those it has already."""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from prism_memory import indexing
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.indexing.claims import Claimed, Queue, write
from prism_memory.indexing.copies import want
from prism_memory.types import Scope, Vector


@dataclass(frozen=True)
class Vectors:
    """Vectors of one space, by the SHA-256 of the text that was embedded."""

    space: indexing.Space
    made: Mapping[bytes, Vector]


def write_made(
    *,
    using: str,
    scope: Scope,
    vectors: Vectors,
    texts: Mapping[uuid.UUID, bytes],
    at: dt.datetime,
) -> None:
    """Give queued records the vectors that were made. Two queries.

    After all that locks records: a drain holds vectors while it waits for the scope.

    Args:
        texts: The SHA-256 of what is embedded, by record.
    """
    given = [
        (Claimed(record_id, sha256, 0, at, ""), vectors.made[sha256])
        for record_id, sha256 in sorted(texts.items())
        if sha256 in vectors.made
    ]
    write(Queue(using, scope.tenant, vectors.space), given)


def reuse(
    *,
    using: str,
    scope: Scope,
    source_id: uuid.UUID,
    generation: int,
    record_ids: Collection[uuid.UUID],
    embedder: str,
) -> None:
    """Give queued chunks the vectors that another generation of them has (B239).

    Two queries, and up to two for each space. When it is called: see ``write_made``.
    """
    tenant = scope.tenant
    given = {
        "tenant": tenant,
        "source_id": source_id,
        "generation": generation,
        "record_ids": list(record_ids),
    }
    rows = queries.fetch(using, named("ingest")["reuse_vectors"], given)
    added = Counter(row["space_id"] for row in rows if not row["counted"])
    for space in indexing.find_live(using=using, alias=embedder):
        place = {"tenant": tenant, "space_id": space.id, "scope_id": scope.id}
        if more := added[space.id]:
            counted = named("indexing")["count_vectors"]
            queries.execute(using, counted, place | {"added": more})
        ids = [row["record_id"] for row in rows if row["space_id"] == space.id]
        want(using=using, tenant=tenant, space=space, record_ids=ids)


def waiting_of_source(
    *, using: str, scope: Scope, source_id: uuid.UUID, alias: str
) -> frozenset[uuid.UUID]:
    """Return the records of a source that wait for a vector. One query."""
    given = {"tenant": scope.tenant, "source_id": source_id, "alias": alias}
    rows = queries.fetch(using, named("ingest")["waiting_of_source"], given)
    return frozenset(row["record_id"] for row in rows)
