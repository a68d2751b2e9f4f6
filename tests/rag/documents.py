"""Stores and documents of the tests."""

from __future__ import annotations

import uuid
from typing import Any

from prism_memory.models import Record
from prism_memory.rag import DocumentStore
from prism_memory.types import Origin, Scope, SourceRef, Trust
from tests.factories import make_record

OWNER = Scope("acme", owner="ada")
BOOK = OWNER.with_thread("handbook")
LOADER = Origin(Trust.DOCUMENT, "loader")


def make_store(scope: Scope = BOOK, **given: Any) -> DocumentStore:
    return DocumentStore(scope, **{"origin": LOADER, **given})


def write(
    *texts: str,
    scope: Scope = BOOK,
    key: str = "handbook.md",
    wait: bool = True,
    metadata: dict[str, Any] | None = None,
    **columns: Any,
) -> list[uuid.UUID]:
    """Write a document's chunks, one a text, as an ingest would; return their ids."""
    rows = [
        make_record(
            text,
            scope=scope,
            wait=wait,
            fields={
                "key": f"{key}-{place}",
                "source": SourceRef(key, ordinal=place),
                "metadata": metadata or {},
            },
            kind="chunk",
            **{"line_start": place + 1, "line_end": place + 1, **columns},
        )
        for place, text in enumerate(texts)
    ]
    return [row.id for row in rows]


def change(record_id: uuid.UUID, scope: Scope = BOOK, **columns: Any) -> None:
    Record.objects.filter(tenant=scope.tenant, id=record_id).update(**columns)
