"""The store's verbs that write documents. Each is of exactly the store's scope."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from asgiref.sync import sync_to_async
from django.db import transaction

from prism_memory.lifecycle.set_access import Given
from prism_memory.rag.parts import Part
from prism_memory.types import (
    AccessGrant,
    ChunkPage,
    DeletedSource,
    Generations,
    Grant,
    Ingested,
    Ingestion,
    SourcePage,
)


class Writing(Part):
    """What ``DocumentStore`` writes. See there."""

    def upsert(self, key: str, text: str, **options: Any) -> Ingested:  # noqa: ANN401
        """Store a document, or what changed of it: all of it, or nothing.

        Unchanged chunks keep their ids and vectors, what it holds no longer leaves
        search. Options are those of ``memory.sources.ingest``: ``uri``, ``chunker``,
        ``origin``, ``metadata``, ``language``, ``generation``, ``wait`` and so on.

        Raises:
            Invalid: A field is not acceptable; the error names it.
            LimitExceeded: The document or a field is over a limit.
            Conflict: The key is a stream's.
        """
        self._check_width()
        return self.memory.sources.ingest(key, text, **options)

    def replace_source(self, key: str, text: str, **options: Any) -> Ingested:  # noqa: ANN401
        """Store a document once all its vectors are made, in one step (B236).

        On any failure the old chunks stand. Calls the embedder, before the transaction.

        Raises:
            ProviderUnavailable: The embedder is down; nothing is changed.
            Invalid: As ``upsert``; likewise its other errors.
        """
        self._check_width()
        return self.memory.sources.replace(key, text, **options)

    def delete_source(self, key: str, *, reason: str = "") -> DeletedSource:
        """Delete a document, and no other (B237). What a hold keeps is told of.

        Args:
            reason: For the audit; no text content.
        """
        return self.memory.sources.delete(key, reason=reason)

    def get_by_source(
        self, key: str, *, limit: int | None = None, cursor: str | None = None
    ) -> ChunkPage:
        """Return a page of the chunks of a document in sight, in its order.

        Raises:
            NotVisible: There is no such document here.
            Invalid: The cursor is none of this document.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        return self.memory.sources.chunks(key, limit=limit, cursor=cursor)

    def sources(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> SourcePage:
        """Return a page of the documents in sight, 50 rows when None, 200 at most."""
        return self.memory.sources.list(limit=limit, cursor=cursor)

    def status(self, key: str) -> Ingestion:
        """Return how far the vectors of a document are.

        Raises:
            NotVisible: There is no such document here.
        """
        return self.memory.sources.status(key)

    def set_source_access(self, grants: Given, *, reason: str = "") -> None:
        """Let exactly these principals and groups read documents of this scope.

        What was granted before is replaced, document by document; an empty list revokes
        all. From the first time on a document is restricted (B217, B218).

        Args:
            grants: ``{key: [AccessGrant(principal="ada"), AccessGrant(group="hr")]}``,
                or pairs of both; 1,024 grants at most.
            reason: For the audit; no text content.

        Raises:
            Invalid: A document is named twice, or a grant given twice to one.
            LimitExceeded: More than 1,024.
            NotVisible: There is no such document here.
        """
        self.memory.sources.set_access(grants, reason=reason)

    def source_access(
        self, key: str, *, by: Grant | None = None
    ) -> tuple[AccessGrant, ...] | None:
        """Return who may read a document; None where it is not restricted.

        Args:
            by: Who governs, and need not read it; as whom the store reads when None.

        Raises:
            NotVisible: There is no such document here.
        """
        return self.memory.sources.access(key, by=by)

    def set_current_generation(
        self, generation: int | None, *, reason: str = ""
    ) -> int | None:
        """Let readers see this generation and no other; return the one before.

        Setting what was returned rolls back. What has no generation is always seen.

        Raises:
            LimitExceeded: It is no integer, negative or too large.
        """
        return self.memory.set_current_generation(generation, reason=reason)

    def generations(self) -> Generations:
        """Return the generations here and how much each holds. Two queries."""
        return self.memory.generations()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Let all that is written in this block stand together, or not at all.

        A savepoint inside the host's own transaction. Nothing is embedded in it: what
        waits is embedded after the commit.
        """
        with (
            self.connections.watched(),
            transaction.atomic(using=self.memory.using),
        ):
            yield

    async def aupsert(self, key: str, text: str, **options: Any) -> Ingested:  # noqa: ANN401
        """Do as ``upsert``, for asynchronous code."""
        return await sync_to_async(self.upsert)(key, text, **options)

    async def areplace_source(self, key: str, text: str, **options: Any) -> Ingested:  # noqa: ANN401
        """Do as ``replace_source``, for asynchronous code."""
        return await sync_to_async(self.replace_source)(key, text, **options)

    async def adelete_source(self, key: str, *, reason: str = "") -> DeletedSource:
        """Do as ``delete_source``, for asynchronous code."""
        return await sync_to_async(self.delete_source)(key, reason=reason)

    async def aget_by_source(self, key: str, **page: Any) -> ChunkPage:  # noqa: ANN401
        """Do as ``get_by_source``, for asynchronous code."""
        return await sync_to_async(self.get_by_source)(key, **page)

    async def asources(self, **page: Any) -> SourcePage:  # noqa: ANN401
        """Do as ``sources``, for asynchronous code."""
        return await sync_to_async(self.sources)(**page)

    async def astatus(self, key: str) -> Ingestion:
        """Do as ``status``, for asynchronous code."""
        return await sync_to_async(self.status)(key)

    async def aset_source_access(self, grants: Given, *, reason: str = "") -> None:
        """Do as ``set_source_access``, for asynchronous code."""
        await sync_to_async(self.set_source_access)(grants, reason=reason)

    async def asource_access(
        self, key: str, *, by: Grant | None = None
    ) -> tuple[AccessGrant, ...] | None:
        """Do as ``source_access``, for asynchronous code."""
        return await sync_to_async(self.source_access)(key, by=by)

    async def aset_current_generation(
        self, generation: int | None, *, reason: str = ""
    ) -> int | None:
        """Do as ``set_current_generation``, for asynchronous code."""
        return await sync_to_async(self.set_current_generation)(
            generation, reason=reason
        )

    async def agenerations(self) -> Generations:
        """Do as ``generations``, for asynchronous code."""
        return await sync_to_async(self.generations)()
