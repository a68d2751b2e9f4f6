"""``DocumentStore``: documents for RAG, in the host's own PostgreSQL.

store = DocumentStore(Scope("acme"), origin=Origin(Trust.DOCUMENT, "loader"))
store.upsert("handbook.md", text, uri="https://example.org/handbook")
for passage in store.retrieve("How do I book a train?"):
    print(passage.provenance.citation, passage.text)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import TracebackType
from typing import Self

from asgiref.sync import sync_to_async

from prism_memory.db.tenancy import for_its_tenant
from prism_memory.memory import Memory
from prism_memory.rag.connections import Connections, watching
from prism_memory.rag.searching import Searching
from prism_memory.rag.writing import Writing
from prism_memory.spans import spanned
from prism_memory.types import (
    Actor,
    Authorization,
    Origin,
    ReadMode,
    Scope,
    check_count,
)


@spanned("documents")
@watching
@for_its_tenant
class DocumentStore(Searching, Writing):
    """Documents of one scope: written, replaced, deleted, and searched.

    Used alone, without ``Memory``. Passages are chunks, apart from all that is
    remembered. Every way of asking raises ``Invalid`` and ``LimitExceeded`` for what is
    not acceptable, ``ScopeDenied`` for a scope that the store does not open, and
    ``EmbedderMismatch`` where a stored passage is of another embedder.

    Args:
        scope: Where documents are written, and read unless a call says so.
        origin: Who vouches for what is written, unless a call says so.
        actor: Who acts, as the audit names them.
        authorization: As whom restricted documents are read, unless a call says so;
            none of them is in sight when None.
        dimensions: What the width of the vectors must be, or nothing is written or
            read; any when None.
        limits: Limits of this store by lower-case name, up to their hard caps.
        redactor: Run over every text before it is stored; on top, ``SECRETS``.
        secrets: More strings to take out, of what is stored and of what is shown.
        require_consent: See only what was consented to; the setting when None.
        embedder: Alias of the embedder; the setting when None.
        using: Database alias; the setting when None.

    Raises:
        Invalid: As ``Memory``; likewise its other errors.
    """

    def __init__(  # noqa: PLR0913 - keywords, all of them optional
        self,
        scope: Scope,
        *,
        origin: Origin | None = None,
        actor: Actor | None = None,
        authorization: Authorization | None = None,
        dimensions: int | None = None,
        limits: Mapping[str, int] | None = None,
        redactor: Callable[[str], str] | None = None,
        secrets: Collection[str] = (),
        require_consent: bool | None = None,
        embedder: str | None = None,
        using: str | None = None,
    ) -> None:
        self.memory = Memory(
            scope,
            origin=origin,
            actor=actor,
            authorization=authorization,
            read=ReadMode.EXACT,
            limits=limits,
            redactor=redactor,
            secrets=secrets,
            require_consent=require_consent,
            embedder=embedder,
            using=using,
        )
        self.scope = self.memory.scope
        self.connections = Connections(self.memory.using)
        self.dimensions = (
            None
            if dimensions is None
            else check_count(dimensions, "dimensions", minimum=1)
        )

    def close(self) -> None:
        """Close the connection of this thread, if this store opened it (B489).

        One that the host had open stays; so does what another thread opened. The store
        may be used again.

        Raises:
            Conflict: A transaction is open on it.
        """
        self.connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def aclose(self) -> None:
        """Do as ``close``, for asynchronous code."""
        await sync_to_async(self.close)()
