"""The door's verbs that let another thread recall some records of this one."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory import lifecycle, recall
from prism_memory.access import strictness
from prism_memory.memory.verbs import Verbs
from prism_memory.types import Scope, SharePage, check_name


class Sharing(Verbs):
    """What ``Memory`` of a thread shares. Each change is audited."""

    def share_with(
        self,
        child: str | Scope,
        ids: Collection[uuid.UUID | str],
        *,
        expires_at: dt.datetime | None = None,
        reason: str = "",
    ) -> None:
        """Let another thread recall exactly these records of exactly this one.

        It recalls them by the option ``share_from_parent_thread_id``, and by no other
        way. What was shared with it before is replaced, the expiry too.

        Args:
            child: Name of a thread of the same owner and agent, or the scope of one
                of the same owner.
            ids: 32 at most, all of them in sight; none: as ``revoke_share``.
            expires_at: From then on nothing is shared; None: never. Aware.
            reason: For the audit; no text content.

        Raises:
            ScopeDenied: This memory or the child is no thread, or the child is
                another owner's.
            Invalid: The child is this thread, or the expiry is naive or past.
            LimitExceeded: More than 32 ids.
            NotVisible: An id is no record of this thread that is in sight.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        lifecycle.share_with(
            **self._who(reason),
            child=self._child(child),
            ids=ids,
            expires_at=expires_at,
            strict=strictness(usual=self.require_consent),
            authorization=self.authorization,
        )

    def revoke_share(self, child: str | Scope, *, reason: str = "") -> bool:
        """Let another thread recall nothing of this one; tell whether it could.

        Args:
            child: As in ``share_with``.
            reason: For the audit; no text content.

        Raises:
            ScopeDenied: As ``share_with``.
            Invalid: The child is this thread.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.revoke_share(**self._who(reason), child=self._child(child))

    def shares(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> SharePage:
        """Return a page of the shares that this thread gave or got, oldest first.

        Those that have expired too. Two queries.

        Args:
            limit: Shares of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        return recall.list_shares(scope=self.scope, **self._page(limit, cursor))

    async def ashare_with(
        self,
        child: str | Scope,
        ids: Collection[uuid.UUID | str],
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """Do as ``share_with``, for asynchronous code."""
        await sync_to_async(self.share_with)(child, ids, **kwargs)

    async def arevoke_share(self, child: str | Scope, *, reason: str = "") -> bool:
        """Do as ``revoke_share``, for asynchronous code."""
        return await sync_to_async(self.revoke_share)(child, reason=reason)

    async def ashares(self, **kwargs: Any) -> SharePage:  # noqa: ANN401
        """Do as ``shares``, for asynchronous code."""
        return await sync_to_async(self.shares)(**kwargs)

    def _child(self, child: str | Scope) -> Scope:
        if isinstance(child, Scope):
            return child
        return self.scope.beside(check_name(child, "child"))
