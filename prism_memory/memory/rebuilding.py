"""Embed a scope anew, page by page; see ``Memory.rebuild_index``."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial

from prism_memory import backends, indexing
from prism_memory.errors import Invalid, Unsupported
from prism_memory.recall import cursors
from prism_memory.types import RebuiltIndex, Scope

ORDER = "rebuild"


def rebuild_index(
    *,
    using: str,
    scope: Scope,
    alias: str,
    cursor: str | None,
    rows: int,
    seconds: float,
    cancelled: Callable[[], bool] | None,
) -> RebuiltIndex:
    """Return what one page did, and where the next begins."""
    if indexing.in_host_transaction(using):
        message = "A rebuild cannot embed inside an open transaction."
        raise Unsupported(message)
    after = indexing.FIRST if cursor is None else _place(cursor, scope)
    embedder = backends.get_embedder(alias)
    space = indexing.active(using=using, alias=alias, identity=embedder.identity)
    page = indexing.rebuild_page(
        queue=indexing.Queue(using, scope.tenant, space),
        embed=partial(
            backends.embed,
            embedder,
            role="passage",
            timeout_seconds=seconds,
            cancelled=cancelled,
        ),
        rows=rows,
        after=after,
        scope_id=scope.id,
        seconds=seconds,
    )
    if page.last is None:
        return RebuiltIndex(page.rebuilt)
    following = cursors.write(ORDER, scope.id.hex, page.last.hex)
    return RebuiltIndex(page.rebuilt, following)


def _place(cursor: str, scope: Scope) -> uuid.UUID:
    scope_id, record_id = cursors.read(cursor, ORDER)
    if scope_id != scope.id.hex:
        message = "The cursor is of another scope's rebuild."
        raise Invalid(message, field="cursor")
    try:
        return uuid.UUID(hex=record_id)
    except (ValueError, TypeError, AttributeError):
        raise cursors.unknown() from None
