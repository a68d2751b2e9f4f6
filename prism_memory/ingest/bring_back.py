"""Bring back the chunks of documents that an export holds: add what is missing."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import transaction

from prism_memory import integrity
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Invalid
from prism_memory.ingest.sources import ensure_document, refuse_other, taken_out
from prism_memory.ingest.writing import COLUMNS, batches, hide
from prism_memory.lifecycle.columns import columns
from prism_memory.lifecycle.decisions import note_decisions
from prism_memory.lifecycle.entries import Row
from prism_memory.lifecycle.queueing import enqueue, wake
from prism_memory.lifecycle.restore import close_restored
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, Kind, Restored, RestoredChunk, Scope, chunk_id

NAME: Final = re.compile(r"[0-9a-f]{64}:\d{1,9}(?::g(?P<generation>\d{1,10}))?")
SPANS: Final = ("line_start", "line_end", "offset_start", "offset_end")


@for_tenant
def bring_back(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    rows: Sequence[Row],
    embedder: str,
    at: dt.datetime,
) -> int:
    """Store those of some chunks that are not there; return how many. All, or none.

    What is there stays as it is, and what a person forgot of a document stays so, as
    long as that lives here (C12). Documents that are not there are made.

    Args:
        rows: Made of ``Restored`` entries that are chunks.

    Raises:
        Invalid: A key is not that of a chunk.
        Conflict: A stream has a document's key, or the source is retired.
    """
    documents: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        _check_name(row)
        documents[_source_key(row)].append(row)
    given: dict[str, Any] = {"using": using, "scope": scope, "at": at}
    with transaction.atomic(using=using):
        hold_lineage(using=using, tenant=scope.tenant)
        ensure_scope(**given)
        sources = {
            key: _ensure(using, scope, documents[key][0], at)
            for key in sorted(documents)
        }
        made = sum(
            _bring(using, scope, actor, sources[key], documents[key], embedder, at)
            for key in sorted(documents)
        )
        if made:
            wake(using=using, scope=scope, embedder=embedder)
    return made


def _check_name(row: Row) -> None:
    match = NAME.fullmatch(row.key)
    generation = None if match is None else match["generation"]
    asked = _chunk(row).generation
    if match is None or (asked is None) != (generation is None):
        message = "key is not that of a chunk."
        raise Invalid(message, field="key")
    if generation is not None and int(generation) != asked:
        message = "key names another generation."
        raise Invalid(message, field="key")


def _entry(row: Row) -> Restored:
    assert isinstance(row.entry, Restored)  # noqa: S101 - what ``bring_back`` takes
    return row.entry


def _chunk(row: Row) -> RestoredChunk:
    chunk = _entry(row).chunk
    assert chunk is not None  # noqa: S101 - as checked where it was made
    return chunk


def _source_key(row: Row) -> str:
    source = row.entry.source
    assert source is not None  # noqa: S101 - as an ``Entry`` checks
    return source.key


def _ensure(using: str, scope: Scope, row: Row, at: dt.datetime) -> Mapping[str, Any]:
    source = row.entry.source
    assert source is not None  # noqa: S101 - as above
    found = ensure_document(
        using=using,
        scope=scope,
        key=source.key,
        uri=source.uri,
        origin=row.origin,
        chunker=_chunk(row).chunker,
        language=row.language,
        at=at,
    )
    refuse_other(found)
    return found


def _bring(
    using: str,
    scope: Scope,
    actor: Actor,
    source: Mapping[str, Any],
    rows: Sequence[Row],
    embedder: str,
    at: dt.datetime,
) -> int:
    """Store the chunks of one document that are missing; return how many."""
    keys = {f"{source['id']}:{row.key}": row for row in rows}
    named_so = _there(using, scope, list(keys))
    ids = {chunk_id(scope.tenant, key): key for key in keys if key not in named_so}
    taken = taken_out(
        using=using, scope=scope, source_id=source["id"], keys=[*ids.values()]
    )
    new = [
        (record_id, key, keys[key])
        for record_id, key in ids.items()
        if key not in taken
    ]
    waits = False
    for some in batches(new):
        _insert(using, scope, source["id"], some, at)
        _complete(using, scope, actor, some, at)
        texts = {record_id: row.embed_sha256 for record_id, _, row in some}
        waiting, _ = enqueue(using=using, scope=scope, texts=texts, embedder=embedder)
        waits = waits or bool(waiting)
    if any(_entry(row).restricted for _, _, row in new):
        restricted = {_source_key(row) for _, _, row in new}
        close_restored(using=using, scope=scope, rows={}, restricted=restricted)
    if new:
        grown = {
            "tenant": scope.tenant,
            "source_id": source["id"],
            "chunks": len(new),
            "waits": waits,
            "at": at,
        }
        queries.execute(using, named("ingest")["grow_document"], grown)
    return len(new)


def _there(using: str, scope: Scope, keys: list[str]) -> set[str]:
    given = {
        "tenant": scope.tenant,
        "scope_ids": [scope.id] * len(keys),
        "kinds": [Kind.CHUNK.value] * len(keys),
        "namespaces": [""] * len(keys),
        "partitions": [""] * len(keys),
        "keys": keys,
    }
    rows = queries.fetch(using, named("restore")["find_named"], given)
    return {row["key"] for row in rows}


def _insert(
    using: str,
    scope: Scope,
    source_id: uuid.UUID,
    new: Sequence[tuple[uuid.UUID, str, Row]],
    at: dt.datetime,
) -> None:
    by_generation: dict[int | None, list[tuple[uuid.UUID, str, Row]]]
    by_generation = defaultdict(list)
    for one in new:
        by_generation[_chunk(one[2]).generation].append(one)
    for generation, some in by_generation.items():
        rows = [row for _, _, row in some]
        every = columns(rows=rows, sources={_source_key(r): source_id for r in rows})
        places = {
            f"{name}s": [getattr(_chunk(row), name) for row in rows] for name in SPANS
        }
        given = {
            **{name: every[name] for name in (*COLUMNS, "ordinals")},
            **places,
            "ids": [record_id for record_id, _, _ in some],
            "keys": [key for _, key, _ in some],
            "tenant": scope.tenant,
            "scope_id": scope.id,
            "source_id": source_id,
            "generation": generation,
            "at": at,
        }
        queries.execute(using, named("ingest")["insert_chunks"], given)


def _complete(
    using: str,
    scope: Scope,
    actor: Actor,
    new: Sequence[tuple[uuid.UUID, str, Row]],
    at: dt.datetime,
) -> None:
    """Write what only a restored record has, and what the gate says of it."""
    tenant = scope.tenant
    entries = [_entry(row) for _, _, row in new]
    ids = [record_id for record_id, _, _ in new]
    given = {
        "tenant": tenant,
        "reason": "",
        "ids": ids,
        "created_ats": [entry.created_at for entry in entries],
        "changed_ats": [entry.changed_at for entry in entries],
        "uses": [entry.uses for entry in entries],
        "lates": [False for _ in entries],
    }
    queries.execute(using, named("restore")["complete"], given)
    integrity.sign(using=using, tenant=tenant, record_ids=ids)
    consented = [i for i, entry in zip(ids, entries, strict=True) if entry.consent]
    if consented:
        note_decisions(
            using=using, tenant=tenant, actor=actor, record_ids=consented, at=at
        )
    flagged = [record_id for record_id, _, row in new if row.verdict.flagged]
    if flagged:
        hide(using=using, scope=scope, actor=actor, record_ids=flagged, at=at)
