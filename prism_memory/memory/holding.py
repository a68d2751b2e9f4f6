"""The door's verbs that keep from deletion, and lists of what is kept or blocked."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory import lifecycle
from prism_memory.lifecycle import blocked
from prism_memory.memory.verbs import Verbs
from prism_memory.types import (
    Held,
    HoldPage,
    RefPage,
    StonePage,
    check_uuid,
)


class Holding(Verbs):
    """What ``Memory`` keeps from deletion. Each verb is audited."""

    def hold(
        self,
        *,
        record: uuid.UUID | str | None = None,
        source: uuid.UUID | str | None = None,
        matter: str = "",
        reason: str = "",
    ) -> Held:
        """Keep a record or a source of this scope from deletion, or all of the scope.

        Neither id: the scope with all below it, also what is written later. It hides
        nothing; nothing it is on can be deleted or overwritten, whoever asks.

        Args:
            record: Its id.
            source: Its key, or its id; or neither. A text that is the key of a source
                of this scope is that, whatever it looks like.
            matter: What it is for, as a case's number. Several hold one thing; the
                same stands once.
            reason: For the audit; no text content.

        Raises:
            Invalid: Both, a key that none can have, or a matter that cannot be stored.
            LimitExceeded: A matter of over 256 bytes.
            NotVisible: No such record or source in this scope.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.hold(
            **self._who(reason),
            record_id=None if record is None else check_uuid(record, "record"),
            source=source,
            matter=self._noted(matter, "matter"),
        )

    async def ahold(self, **kwargs: Any) -> Held:  # noqa: ANN401 - as hold
        """Do as ``hold``, for asynchronous code."""
        return await sync_to_async(self.hold)(**kwargs)

    def release(self, hold_id: uuid.UUID | str, reason: str = "") -> None:
        """End a hold on this scope, on something in it, or on what is below it.

        Other holds on the same stand. Nothing is deleted by it.

        Args:
            hold_id: Of ``Held``.
            reason: For the audit; no text content.

        Raises:
            NotVisible: No such hold here.
            Conflict: It was released before.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        lifecycle.release(**self._who(reason), hold_id=check_uuid(hold_id, "hold_id"))

    async def arelease(self, hold_id: uuid.UUID | str, reason: str = "") -> None:
        """Do as ``release``, for asynchronous code."""
        await sync_to_async(self.release)(hold_id, reason)

    def holds(self, *, limit: int | None = None, cursor: str | None = None) -> HoldPage:
        """Return the holds in force here, above and below, or on what is there.

        All that keep something here from an erasure; ``where`` tells which are here or
        below, and so can be released from here. The oldest first. One query.

        Args:
            limit: Holds of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        return blocked.holds(scope=self.scope, **self._page(limit, cursor))

    async def aholds(self, **kwargs: Any) -> HoldPage:  # noqa: ANN401 - as holds
        """Do as ``holds``, for asynchronous code."""
        return await sync_to_async(self.holds)(**kwargs)

    def invalidated_ids(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> RefPage:
        """Return the refs that may not be used here: all but what was corrected.

        Of this scope and, in the mode ``chain``, of every level above. For whoever
        keeps a copy of what was recalled. One query.

        Args:
            limit: Refs of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor cannot be one.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        scopes = self.scope.visible(self.mode)
        return blocked.blocked_refs(scopes=scopes, **self._page(limit, cursor))

    async def ainvalidated_ids(self, **kwargs: Any) -> RefPage:  # noqa: ANN401
        """Do as ``invalidated_ids``, for asynchronous code."""
        return await sync_to_async(self.invalidated_ids)(**kwargs)

    def tombstones(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> StonePage:
        """Return what is blocked in exactly this scope, and why. One query, or two.

        Args:
            limit: Tombstones of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        return blocked.tombstones(scope=self.scope, **self._page(limit, cursor))

    async def atombstones(self, **kwargs: Any) -> StonePage:  # noqa: ANN401
        """Do as ``tombstones``, for asynchronous code."""
        return await sync_to_async(self.tombstones)(**kwargs)
