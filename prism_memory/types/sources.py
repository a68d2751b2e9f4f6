"""What documents are, and what ingesting them did."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from prism_memory.types.answers import JSON, Item
from prism_memory.types.scopes import Scope
from prism_memory.types.vocabulary import IngestionState, SourceKind, SourceState, Trust


@dataclass(frozen=True)
class Ingested:
    """What an ingest did.

    Args:
        source_id: Of the document.
        chunks: Of it that are in force now.
        added: Chunks that are new.
        kept: Chunks that were there and stay, with their ids and vectors.
        moved: Those of them that stand elsewhere in the document now.
        restored: Those of them that had been retired, and are back.
        retired: Chunks that the document holds no longer.
        withheld: Chunks of the text that are not stored, or not as they stand in it: a
            person forgot or corrected them, or retention took them.
        quarantined: Of the chunks in force, those that the gate holds back.
        unchanged: Nothing was written at all.
        pending: Some wait for their vector; until then they are found by their words.
        degraded: Why ``wait=True`` left some pending, or empty.
    """

    source_id: uuid.UUID
    chunks: int = 0
    added: int = 0
    kept: int = 0
    moved: int = 0
    restored: int = 0
    retired: int = 0
    withheld: int = 0
    quarantined: int = 0
    unchanged: bool = False
    pending: bool = False
    degraded: str = ""


@dataclass(frozen=True)
class Ingestion:
    """How far a document is (B238).

    Args:
        state: ``pending`` while chunks wait for their vectors, ``partial`` where some
            were given up, ``failed`` where all were; else ``indexed``.
        bytes: Of its text as UTF-8.
        chunks: Of it in force.
        pending: Chunks that wait for their vectors.
        failed: Chunks that were given up.
        error: Why one of them was, or empty; no text, no configured secret.
    """

    state: IngestionState
    bytes: int = 0
    chunks: int = 0
    pending: int = 0
    failed: int = 0
    error: str = ""


@dataclass(frozen=True)
class SourceItem:
    """A document or a stream as a reader gets it: no words of it.

    Args:
        chunker: How it was cut, or empty for a stream.
        metadata: Of the document.
        ingested_at: When it was last changed by an ingest, or None.
        retired_at: When it left search, or None.
    """

    id: uuid.UUID
    key: str
    uri: str
    kind: SourceKind
    scope: Scope
    trust: Trust
    writer: str
    state: SourceState
    ingestion: Ingestion
    chunker: str
    language: str
    metadata: JSON
    created_at: dt.datetime
    ingested_at: dt.datetime | None
    retired_at: dt.datetime | None


@dataclass(frozen=True)
class SourcePage(Sequence[SourceItem]):
    """A page of sources, in the order of their ids, so the oldest first.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[SourceItem, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class RetiredSource:
    """What retiring a source did, or restoring it.

    Args:
        chunks: Records that left search, or came back to it.
        changed: False where it was so before.
    """

    source_id: uuid.UUID
    chunks: int = 0
    changed: bool = True


@dataclass(frozen=True)
class DeletedSource:
    """What deleting a source did.

    Args:
        found: There was one of that key in exactly the scope.
        deleted: Records whose bodies are gone, dependents included.
        kept: Ids of those that a hold keeps; then the source stays too.
        blocked: How many refs may no longer be used.
    """

    found: bool
    deleted: int = 0
    kept: tuple[uuid.UUID, ...] = ()
    blocked: int = 0


@dataclass(frozen=True)
class ChunkPage(Sequence[Item]):
    """A page of the chunks of a document in sight, in its order.

    Args:
        source: The document.
        next_cursor: Where the next page begins, or None on the last.
    """

    source: SourceItem
    items: tuple[Item, ...] = field(default=())
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)
