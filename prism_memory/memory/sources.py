"""``memory.sources``: the documents and streams of a memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from asgiref.sync import sync_to_async

from prism_memory import indexing
from prism_memory.access import Reader
from prism_memory.db.tenancy import for_its_tenant
from prism_memory.ingest import delete, listing, restore, retire
from prism_memory.memory.granting import Granting
from prism_memory.memory.ingesting import Ingesting
from prism_memory.recall.options import limit as bounded
from prism_memory.recall.options import reader_of
from prism_memory.spans import spanned
from prism_memory.types import (
    ChunkPage,
    DeletedSource,
    Ingestion,
    ReadMode,
    RetiredSource,
    SourceItem,
    SourcePage,
    check_name,
)

if TYPE_CHECKING:
    from prism_memory.memory.door import Memory

SHOWN: Final = ("key", "uri", "writer", "metadata")
"""Fields of a source that never show a configured secret (B133)."""


@spanned("sources")
@for_its_tenant
class Sources(Ingesting, Granting):
    """The sources of one memory. Call it to list them.

    memory.sources.ingest("handbook", text, uri="https://example.org/handbook")
    """

    def __init__(self, memory: Memory) -> None:
        """Look at the sources of one memory."""
        self.memory = memory
        self.scope = memory.scope

    def __call__(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> SourcePage:
        """Do as ``list``."""
        return self.list(limit=limit, cursor=cursor)

    def get(self, key: str) -> SourceItem:
        """Return a source in sight; of several of that key, the narrowest scope's.

        Two or three queries.

        Raises:
            NotVisible: There is none of that key.
        """
        return self._masked(self._get(key, self._reader()))

    def status(self, key: str) -> Ingestion:
        """Return how far a source of exactly this scope is (B238).

        Two or three queries.

        Raises:
            NotVisible: There is none of that key.
        """
        exactly = replace(self._reader(), mode=ReadMode.EXACT)
        return self._masked(self._get(key, exactly)).ingestion

    def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> SourcePage:
        """Return a page of the sources in sight, the oldest first (B238).

        Two or three queries. Documents and streams, also those that are retired.

        Args:
            limit: Rows of the page, 1 to 200; ``source_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        page = listing.list_sources(
            using=self.memory.using,
            reader=self._reader(),
            space=self._space(),
            rows=bounded(self.memory.limits, limit, "source_rows", "limit"),
            cursor=cursor,
        )
        return replace(page, items=tuple(map(self._masked, page.items)))

    def chunks(
        self, key: str, *, limit: int | None = None, cursor: str | None = None
    ) -> ChunkPage:
        """Return a page of a source's chunks in sight, in its order (B211).

        Of a stream, of its records. Three or four queries. A page may be short, and not
        be the last.

        Args:
            limit: Rows of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            NotVisible: There is no source of that key in sight.
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        reader = self._reader()
        page = listing.read_chunks(
            reader=reader,
            source=self._get(key, reader),
            **self.memory._page(limit, cursor),  # noqa: SLF001 - its other half
        )
        shown = map(self.memory._masked, page.items)  # noqa: SLF001 - its other half
        return replace(page, source=self._masked(page.source), items=tuple(shown))

    def retire(self, key: str, *, reason: str = "") -> RetiredSource:
        """Take a source of exactly this scope out of search (B286). Audited.

        What it holds stays readable by id.

        Args:
            reason: For the audit; no text content.

        Raises:
            NotVisible: There is none of that key.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return retire.retire(**self._named(key, reason))

    def restore(self, key: str, *, reason: str = "") -> RetiredSource:
        """Bring a retired source of exactly this scope back to search. Audited.

        Its chunks are found by their words at once, and wait for their vectors.

        Args:
            reason: For the audit; no text content.

        Raises:
            NotVisible: There is none of that key.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        self.memory._spaces_to_write()  # noqa: SLF001 - so that they get their vectors
        embedder = self.memory.embedder
        return restore.restore(**self._named(key, reason), embedder=embedder)

    def delete(self, key: str, *, reason: str = "") -> DeletedSource:
        """Delete a source of exactly this scope, and what derives from it (B237).

        Without any of that key ``found`` is False and nothing changes. What a hold
        keeps stays. Audited; ``Memory.erase`` also leaves a receipt.

        Args:
            reason: For the audit; no text content.

        Raises:
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return delete.delete(**self._named(key, reason))

    async def aget(self, key: str) -> SourceItem:
        """Do as ``get``, for asynchronous code."""
        return await sync_to_async(self.get)(key)

    async def astatus(self, key: str) -> Ingestion:
        """Do as ``status``, for asynchronous code."""
        return await sync_to_async(self.status)(key)

    async def alist(self, **kwargs: Any) -> SourcePage:  # noqa: ANN401
        """Do as ``list``, for asynchronous code."""
        return await sync_to_async(self.list)(**kwargs)

    async def achunks(self, key: str, **kwargs: Any) -> ChunkPage:  # noqa: ANN401
        """Do as ``chunks``, for asynchronous code."""
        return await sync_to_async(self.chunks)(key, **kwargs)

    async def aretire(self, key: str, **kwargs: Any) -> RetiredSource:  # noqa: ANN401
        """Do as ``retire``, for asynchronous code."""
        return await sync_to_async(self.retire)(key, **kwargs)

    async def arestore(self, key: str, **kwargs: Any) -> RetiredSource:  # noqa: ANN401
        """Do as ``restore``, for asynchronous code."""
        return await sync_to_async(self.restore)(key, **kwargs)

    async def adelete(self, key: str, **kwargs: Any) -> DeletedSource:  # noqa: ANN401
        """Do as ``delete``, for asynchronous code."""
        return await sync_to_async(self.delete)(key, **kwargs)

    def _reader(self) -> Reader:
        return reader_of(self.memory._asker(), {})  # noqa: SLF001 - its other half

    def _space(self) -> indexing.Space | None:
        return indexing.find_active(using=self.memory.using, alias=self.memory.embedder)

    def _get(self, key: str, reader: Reader) -> SourceItem:
        return listing.get_source(
            using=self.memory.using,
            reader=reader,
            space=self._space(),
            key=check_name(key, "key"),
        )

    def _named(self, key: str, reason: str) -> dict[str, Any]:
        who = self.memory._who(reason)  # noqa: SLF001 - its other half
        return {**who, "key": check_name(key, "key")}

    def _masked(self, found: SourceItem) -> SourceItem:
        redaction = self.memory.redaction
        error = redaction.mask(found.ingestion.error)
        shown = {name: redaction.mask_json(getattr(found, name)) for name in SHOWN}
        return replace(found, **shown, ingestion=replace(found.ingestion, error=error))
