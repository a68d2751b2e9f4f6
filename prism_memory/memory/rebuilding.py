"""The door's verb that embeds a scope anew, page by page."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory import backends, indexing
from prism_memory.errors import Invalid, Unsupported
from prism_memory.memory.verbs import Verbs
from prism_memory.recall import cursors
from prism_memory.recall.options import limit as bounded
from prism_memory.types import NIL, RebuiltIndex, Scope

ORDER = "rebuild"


class Rebuilding(Verbs):
    """What ``Memory`` does to the vectors of its scope."""

    def rebuild_index(
        self,
        cursor: str | None = None,
        *,
        batch_size: int | None = None,
        max_ms: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> RebuiltIndex:
        """Embed a page of exactly this scope anew, and nothing else of it.

        The vectors that stand answer until theirs is made. Calls the embedder.

        Args:
            cursor: The ``next_cursor`` of the page before, also after a crash.
            batch_size: Records of the page, 1 to 128; ``rebuild_rows`` when None.
            max_ms: For the page; ``rebuild_milliseconds`` when None.
            cancelled: Asked between two batches of embedding; True stops.

        Raises:
            Invalid: The cursor is none of this scope's rebuilds.
            LimitExceeded: An argument is out of its bounds; or the page was late, and
                nothing of it is written.
            EmbedderMismatch: The stored vectors are another embedder's: a rebuild
                cannot change their width.
            ProviderUnavailable: The embedder is down.
            Unsupported: In an open transaction.
            Aborted: ``cancelled`` said so.
        """
        rows = bounded(self.limits, batch_size, "rebuild_rows", "batch_size")
        most = bounded(self.limits, max_ms, "rebuild_milliseconds", "max_ms")
        if indexing.in_host_transaction(self.using):
            message = "A rebuild cannot embed inside an open transaction."
            raise Unsupported(message)
        after = NIL if cursor is None else _place(cursor, self.scope)
        space = indexing.active(using=self.using, alias=self.embedder)
        embedder = indexing.embedder_of(space)
        page = indexing.rebuild_page(
            queue=indexing.Queue(self.using, self.scope.tenant, space),
            embed=partial(
                backends.embed,
                embedder,
                role="passage",
                timeout_seconds=most / 1_000,
                cancelled=cancelled,
            ),
            rows=rows,
            after=after,
            scope_id=self.scope.id,
            seconds=most / 1_000,
        )
        if page.last is None:
            return RebuiltIndex(page.rebuilt)
        following = cursors.write(ORDER, self.scope.id.hex, page.last.hex)
        return RebuiltIndex(page.rebuilt, following)

    async def arebuild_index(self, *args: Any, **kwargs: Any) -> RebuiltIndex:  # noqa: ANN401
        """Do as ``rebuild_index``, for asynchronous code."""
        return await sync_to_async(self.rebuild_index)(*args, **kwargs)


def _place(cursor: str, scope: Scope) -> uuid.UUID:
    scope_id, record_id = cursors.read(cursor, ORDER)
    if scope_id != scope.id.hex:
        message = "The cursor is of another scope's rebuild."
        raise Invalid(message, field="cursor")
    try:
        return uuid.UUID(hex=record_id)
    except (ValueError, TypeError, AttributeError):
        raise cursors.unknown() from None
