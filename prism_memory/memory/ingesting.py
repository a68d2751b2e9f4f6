"""The verbs of ``memory.sources`` that take a document in."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from asgiref.sync import sync_to_async

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.errors import Unsupported
from prism_memory.ingest.documents import Document, prepare_document
from prism_memory.ingest.embedding import embed_first
from prism_memory.ingest.ingest import How, ingest
from prism_memory.ingest.looking import look
from prism_memory.ingest.vectors import waiting_of_source
from prism_memory.memory.waiting import why_pending
from prism_memory.types import Ingested, Origin, Scope, check_bool, check_part

if TYPE_CHECKING:
    from prism_memory.memory.door import Memory

FIELDS: Final[Mapping[str, Any]] = {
    "uri": "",
    "chunker": None,
    "origin": None,
    "metadata": None,
    "language": None,
    "generation": None,
    "restricted": False,
}
"""What ``ingest`` and ``replace`` take besides, and what is usual."""


class Ingesting:
    """A part of ``memory.sources``."""

    memory: Memory
    scope: Scope

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
                ``generation`` of the scope's documents, always seen when None;
                ``restricted``: nobody reads it before ``set_access`` grants it.

        Raises:
            NotVisible: It is restricted, and this memory may not read it.
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
            found = look(
                using=self.memory.using,
                scope=self.scope,
                document=document,
                authorization=self.memory.authorization,
            )
            vectors = embed_first(
                space=spaces[0],
                texts=found.texts(),
                batch=self.memory.limits.embed_batch,
                cancelled=cancelled,
            )
        how = How(self.memory.embedder, vectors=vectors)
        return self._ingest(document, how, reason)

    async def aingest(self, *args: Any, **kwargs: Any) -> Ingested:  # noqa: ANN401
        """Do as ``ingest``, for asynchronous code."""
        return await sync_to_async(self.ingest)(*args, **kwargs)

    async def areplace(self, *args: Any, **kwargs: Any) -> Ingested:  # noqa: ANN401
        """Do as ``replace``, for asynchronous code."""
        return await sync_to_async(self.replace)(*args, **kwargs)

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
        reader = self.memory.authorization
        how = replace(how, reason=who.pop("reason"), authorization=reader)
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
