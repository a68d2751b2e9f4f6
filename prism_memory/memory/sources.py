"""``memory.sources``: the documents and streams of a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from asgiref.sync import sync_to_async

from prism_memory.db.tenancy import for_its_tenant
from prism_memory.ingest.chunking import Chunker
from prism_memory.memory.granting import Granting
from prism_memory.types import (
    ChunkPage,
    DeletedSource,
    Ingested,
    Ingestion,
    Origin,
    RetiredSource,
    SourceItem,
    SourcePage,
)

if TYPE_CHECKING:
    from prism_memory.memory.door import Memory


@for_its_tenant
class Sources(Granting):
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

    def ingest(  # noqa: PLR0913 - keywords, all of them optional
        self,
        key: str,
        text: str,
        *,
        uri: str = "",
        chunker: Chunker | None = None,
        origin: Origin | None = None,
        metadata: Mapping[str, Any] | None = None,
        language: str | None = None,
        generation: int | None = None,
        wait: bool = False,
        cancelled: Callable[[], bool] | None = None,
        reason: str = "",
    ) -> Ingested:
        """Store a document at exactly this scope, or what changed of it."""
        raise NotImplementedError

    def replace(self, key: str, text: str, **given: Any) -> Ingested:  # noqa: ANN401
        """Ingest, but embed first: what is searched changes in one step (B236)."""
        raise NotImplementedError

    def get(self, key: str) -> SourceItem:
        """Return a source in sight; of several of that key, the narrowest scope's."""
        raise NotImplementedError

    def status(self, key: str) -> Ingestion:
        """Return how far a source of exactly this scope is (B238)."""
        raise NotImplementedError

    def list(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> SourcePage:
        """Return a page of the sources in sight, 1 to 200 rows, 50 when None (B238)."""
        raise NotImplementedError

    def chunks(
        self, key: str, *, limit: int | None = None, cursor: str | None = None
    ) -> ChunkPage:
        """Return a page of the chunks of a source in sight, in its order (B211)."""
        raise NotImplementedError

    def retire(self, key: str, *, reason: str = "") -> RetiredSource:
        """Take a source out of search; its chunks stay readable by id (B286)."""
        raise NotImplementedError

    def restore(self, key: str, *, reason: str = "") -> RetiredSource:
        """Bring a retired source back to search, and queue its chunks."""
        raise NotImplementedError

    def delete(self, key: str, *, reason: str = "") -> DeletedSource:
        """Delete a source of exactly this scope, and what derives from it (B237)."""
        raise NotImplementedError

    async def aingest(self, *args: Any, **kwargs: Any) -> Ingested:  # noqa: ANN401
        """Do as ``ingest``, for asynchronous code."""
        return await sync_to_async(self.ingest)(*args, **kwargs)

    async def areplace(self, *args: Any, **kwargs: Any) -> Ingested:  # noqa: ANN401
        """Do as ``replace``, for asynchronous code."""
        return await sync_to_async(self.replace)(*args, **kwargs)

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
