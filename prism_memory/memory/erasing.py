"""The door's verbs that erase for good."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory.errors import Invalid
from prism_memory.governance import erasure
from prism_memory.memory.verbs import Verbs
from prism_memory.types import (
    Erased,
    ErasedPage,
    Erasing,
    Foreseen,
    check_name,
    check_uuid,
)


class Removing(Verbs):
    """What ``Memory`` removes for good, with all that derives. Each is audited."""

    def erase(
        self,
        *,
        record: uuid.UUID | str | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> Erased:
        """Erase a record or a source of exactly this scope, and return the receipt.

        All that is derived from it goes too, wherever in the tenant it is, however
        much that is. What a hold keeps stays, and the receipt says so. Without any of
        that name ``found`` is False and nothing changes.

        Args:
            source: Its key; with all its records.
            reason: For the audit; no text content.

        Raises:
            Invalid: Neither is given, or both.
            Conflict: Others keep the rows locked, or erase the same.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        if record is None and source is None:
            message = "Give a record or a source; start_erasure takes the whole scope."
            raise Invalid(message, field="record")
        return erasure.erase(
            **self._who(reason),
            record_id=None if record is None else check_uuid(record),
            source_key=None if source is None else check_name(source, "source"),
        )

    def start_erasure(self, *, reason: str = "") -> Erasing:
        """Have this scope and all below it erased by a worker.

        Its keys, traces, shares and exports go too. Started again while it runs, it is
        the same one; ``erasure_state`` tells how far it is. Without Celery, the command
        ``prism_memory_erase`` does the same at once.

        Raises:
            Conflict: Another process began the same erasure in this moment.
        """
        return erasure.start_erasure(**self._who(reason))

    def erasure_state(self, erasure_id: uuid.UUID | str) -> Erasing:
        """Return how far an erasure of this scope, or of something in it, is.

        Raises:
            NotVisible: None of that id here.
        """
        return erasure.read_erasure(
            using=self.using, scope=self.scope, erasure_id=check_uuid(erasure_id)
        )

    def erasures(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ErasedPage:
        """Return the receipts of this scope and of all below it, the newest first.

        Args:
            limit: Rows of the page; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        return erasure.list_erasures(scope=self.scope, **self._page(limit, cursor))

    def foresee_erasure(
        self, *, record: uuid.UUID | str | None = None, source: str | None = None
    ) -> Foreseen:
        """Count what erasing a record, a source, or all of this scope would remove.

        Raises:
            Invalid: Both are given, or what no source can be called.
        """
        return erasure.foresee(
            using=self.using,
            scope=self.scope,
            record_id=None if record is None else check_uuid(record),
            source_key=None if source is None else check_name(source, "source"),
        )

    async def aerase(self, **kwargs: Any) -> Erased:  # noqa: ANN401 - as erase
        """Do as ``erase``, for asynchronous code."""
        return await sync_to_async(self.erase)(**kwargs)

    async def astart_erasure(self, **kwargs: Any) -> Erasing:  # noqa: ANN401
        """Do as ``start_erasure``, for asynchronous code."""
        return await sync_to_async(self.start_erasure)(**kwargs)

    async def aerasure_state(self, erasure_id: uuid.UUID | str) -> Erasing:
        """Do as ``erasure_state``, for asynchronous code."""
        return await sync_to_async(self.erasure_state)(erasure_id)

    async def aerasures(self, **kwargs: Any) -> ErasedPage:  # noqa: ANN401
        """Do as ``erasures``, for asynchronous code."""
        return await sync_to_async(self.erasures)(**kwargs)

    async def aforesee_erasure(self, **kwargs: Any) -> Foreseen:  # noqa: ANN401
        """Do as ``foresee_erasure``, for asynchronous code."""
        return await sync_to_async(self.foresee_erasure)(**kwargs)
