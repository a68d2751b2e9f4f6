"""``memory.sources``: the documents and streams of a memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from asgiref.sync import sync_to_async

from prism_memory import indexing
from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.db.tenancy import for_its_tenant
from prism_memory.errors import Unsupported
from prism_memory.ingest import delete, listing, restore, retire
from prism_memory.ingest.documents import Document, prepare_document
from prism_memory.ingest.embedding import embed_first
from prism_memory.ingest.ingest import How, ingest, look
from prism_memory.ingest.vectors import waiting_of_source
from prism_memory.memory.granting import Granting
from prism_memory.memory.waiting import why_pending
from prism_memory.recall.options import limit as bounded
from prism_memory.recall.options import reader_of
from prism_memory.spans import spanned
from prism_memory.types import (
    ChunkPage,
    DeletedSource,
    Ingested,
    Ingestion,
    Origin,
    ReadMode,
    RetiredSource,
    SourceItem,
    SourcePage,
    check_bool,
    check_name,
    check_part,
)

if TYPE_CHECKING:
    from prism_memory.memory.door import Memory

SHOWN: Final = ("key", "uri", "writer", "metadata")
"""Fields of a source that never show a configured secret (B133)."""

FIELDS: Final[Mapping[str, Any]] = {
    "uri": "",
    "chunker": None,
    "origin": None,
    "metadata": None,
    "language": None,
    "generation": None,
}
"""What ``ingest`` and ``replace`` take besides, and what is usual."""


@spanned("sources")
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

    def ingest(
        self,
        key: str,
        text: str,
        *,
        wait: bool = False,
        cancelled: Callable[[], bool] | None = None,
        reason: str = "",
        **given: Any,  # noqa: ANN401 - see below
    ) -> Ingested:
        """Store a document at exactly this scope, or what changed of it.

        All of it, or nothing, also inside a host's transaction (B293). It is redacted
        and then cut; chunks are found by their words at once. Unchanged chunks keep
        their ids and vectors, what it holds no longer is retired, and what a person
        forgot of it stays forgotten. The same document changes nothing (B276).

        Args:
            key: Unique in the scope. A document that is ingested under another key is
                another one.
            text: At most 8,388,608 characters, and 8,192 chunks.
            wait: Embed in this call, after its own commit; see ``remember``.
            cancelled: Asked between two batches of embedding; True stops there.
            reason: For the audit; no text content.
            given: ``uri`` where it can be found; ``chunker``, a
                ``prism_memory.ingest.chunking.Chunker``, Markdown's when None;
                ``origin``, who vouches for it, the memory's own when None; ``metadata``
                of each chunk, whose ``heading`` is the chunk's own; ``language``;
                ``generation`` of the scope's documents, always seen when None.

        Raises:
            Invalid: A field is not acceptable; the error names it.
            LimitExceeded: A limit was exceeded; the error names it.
            Conflict: The key is that of a stream, or of a source that is retired; or
                facts cite a chunk whose trust class would change.
            EmbedderMismatch: The stored vectors are another embedder's.
            Unsupported: ``wait`` inside an open transaction; or one that is not READ
                COMMITTED.
            Aborted: ``cancelled`` said so; what was stored stays.
        """
        if check_bool(wait, "wait"):
            self._refuse_open("wait")
        document = self._document(key, text, **given)
        spaces = self.memory._spaces_to_write()  # noqa: SLF001 - its other half
        how = How(self.memory.embedder, wakes=not wait)
        done = self._ingest(document, how, reason)
        if not (wait and spaces and done.pending):
            return done
        return self._waited(done, spaces, cancelled)

    def replace(
        self,
        key: str,
        text: str,
        *,
        cancelled: Callable[[], bool] | None = None,
        reason: str = "",
        **given: Any,  # noqa: ANN401 - see below
    ) -> Ingested:
        """Ingest, but embed first: all that is searched changes in one step (B236).

        Calls the embedder for what is new, as long as that takes. When it fails, the
        document stays as it was. The other arguments are those of ``ingest``.

        Raises:
            ProviderUnavailable: The embedder is down; nothing was changed.
            ProviderRejected: It refused a text; nothing was changed.
            Unsupported: Inside an open transaction.
            Aborted: ``cancelled`` said so; nothing was changed.
        """
        self._refuse_open("replace")
        document = self._document(key, text, **given)
        spaces = self.memory._spaces_to_write()  # noqa: SLF001 - its other half
        vectors = None
        if spaces:
            found = look(using=self.memory.using, scope=self.scope, document=document)
            vectors = embed_first(
                space=spaces[0],
                texts=found.texts(),
                batch=self.memory.limits.embed_batch,
                cancelled=cancelled,
            )
        how = How(self.memory.embedder, vectors=vectors)
        return self._ingest(document, how, reason)

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

    def _document(self, key: str, text: str, **given: Any) -> Document:  # noqa: ANN401
        memory = self.memory
        memory._refuse_secret_scope()  # noqa: SLF001 - its other half
        fields = {name: given.pop(name, usual) for name, usual in FIELDS.items()}
        if given:
            name = sorted(given)[0]
            message = f"ingest has no argument {name!r}."
            raise TypeError(message)
        fields["origin"] = check_part(fields["origin"], Origin, "origin")
        fields["origin"] = fields["origin"] or memory.origin
        return prepare_document(
            key=key,
            text=text,
            **fields,
            limits=memory.limits,
            redaction=memory.redaction,
        )

    def _ingest(self, document: Document, how: How, reason: str) -> Ingested:
        who = self.memory._who(reason)  # noqa: SLF001 - its other half
        how = replace(how, reason=who.pop("reason"))
        return ingest(**who, document=document, how=how)

    def _waited(
        self,
        done: Ingested,
        spaces: tuple[indexing.Space, ...],
        cancelled: Callable[[], bool] | None,
    ) -> Ingested:
        memory = self.memory
        end = time.monotonic() + settings.WAIT_SECONDS
        waiting = waiting_of_source(
            using=memory.using,
            scope=self.scope,
            source_id=done.source_id,
            alias=memory.embedder,
        )
        outage = memory._embed_now(spaces, waiting, cancelled)  # noqa: SLF001
        told = indexing.Done(memory.using, self.scope.tenant, spaces[0], waiting)
        state = told.now() if outage else told.settle(end - time.monotonic())
        degraded = why_pending(state, outage)
        return replace(done, pending=bool(state.pending), degraded=degraded)

    def _refuse_open(self, what: str) -> None:
        if indexing.in_host_transaction(self.memory.using):
            message = f"{what} cannot embed inside an open transaction."
            raise Unsupported(message, field=what)

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
