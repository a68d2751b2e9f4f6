"""The door's verbs that delete."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.errors import Invalid
from prism_memory.memory.holding import Holding
from prism_memory.types import (
    Forgotten,
    Grant,
    Propagated,
    TombstoneReason,
    check_bool,
    check_text,
    check_uuid,
)

Ids = uuid.UUID | str | Collection[uuid.UUID | str]


class Forgetting(Holding):
    """What ``Memory`` deletes. Each verb is audited."""

    def forget(self, ids: Ids, *, hold: bool = False, reason: str = "") -> Forgotten:
        """Delete records of exactly this scope, and all that is derived from them.

        All of it, or nothing. What a hold keeps is passed over, and told. It is
        final; what was shown before cannot be taken back.

        Args:
            ids: One, or 256 at most. None of them: nothing happens.
            hold: Keep the bodies for a legal hold, and hide them with all that is
                derived, until ``release_forgotten``.
            reason: For the audit; no text content.

        Raises:
            Invalid: What is no id.
            LimitExceeded: More than 256 ids, or with what derives from them more than
                256 refs or further than 8 derivations; nothing was done.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.forget(
            **self._who(reason), ids=check_ids(ids), hold=check_bool(hold, "hold")
        )

    async def aforget(self, ids: Ids, **kwargs: Any) -> Forgotten:  # noqa: ANN401
        """Do as ``forget``, for asynchronous code."""
        return await sync_to_async(self.forget)(ids, **kwargs)

    def forget_thread(self, reason: str = "") -> Forgotten:
        """Delete all that was said in this thread up to now, however much it is.

        In batches of 64, each all or nothing: one that fails leaves those before it
        done, and the same call goes on from there. Entries, turns and notes, and
        what is derived from them; no documents and no facts.

        Args:
            reason: For the audit; no text content.

        Raises:
            ScopeDenied: This is no thread.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.forget_thread(**self._who(reason))

    async def aforget_thread(self, reason: str = "") -> Forgotten:
        """Do as ``forget_thread``, for asynchronous code."""
        return await sync_to_async(self.forget_thread)(reason)

    def release_forgotten(
        self, ids: Ids, *, restore: bool = False, reason: str = ""
    ) -> Forgotten:
        """End what ``forget(hold=True)`` began: forget for good, or show again.

        Args:
            ids: One, or 256 at most: those that were given to ``forget``.
            restore: Show them again, with all that is derived, unless something else
                blocks them.
            reason: For the audit; no text content.

        Raises:
            Invalid: What is no id.
            Conflict: Another hold keeps one of those that shall go; nothing was done.
            LimitExceeded: As ``forget``.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.release_forgotten(
            **self._who(reason),
            ids=check_ids(ids),
            restore=check_bool(restore, "restore"),
        )

    async def arelease_forgotten(self, ids: Ids, **kwargs: Any) -> Forgotten:  # noqa: ANN401
        """Do as ``release_forgotten``, for asynchronous code."""
        return await sync_to_async(self.release_forgotten)(ids, **kwargs)

    def propagate_deletion(
        self,
        *,
        by: Grant,
        source: str | None = None,
        ids: Ids | None = None,
        reason: TombstoneReason = TombstoneReason.FORGOTTEN,
        note: str = "",
    ) -> Propagated:
        """Delete a source of exactly this scope here, and in every registered layer.

        Its records with all that is derived from them, or those of some ids: all of
        it in one transaction, or nothing. See ``register_deletion_handler``.

        Args:
            by: Who the host has verified; refused before a transaction is opened.
            source: Its key; or ``ids``.
            reason: ``forgotten`` or ``expired``; each layer is told.
            note: For the audit; no text content.

        Raises:
            ScopeDenied: The grant does not open this scope.
            PermissionDenied: It does not govern.
            NotVisible: No such source here, or not one of these records.
            LimitExceeded: With what derives from it these are more than 4,096 refs,
                or deeper than 8 derivations; nothing was done.
            Misconfigured: A layer did not say how many it deleted; nothing was done.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.propagate_deletion(
            using=self.using,
            scope=self.scope,
            by=by,
            at=timezone.now(),
            source=None if source is None else check_text(source, "source"),
            ids=None if ids is None else check_ids(ids),
            reason=reason,
            note=self._noted(note, "note"),
        )

    async def apropagate_deletion(self, **kwargs: Any) -> Propagated:  # noqa: ANN401
        """Do as ``propagate_deletion``, for asynchronous code."""
        return await sync_to_async(self.propagate_deletion)(**kwargs)


def check_ids(ids: object) -> list[uuid.UUID]:
    """Return ids as such, of one or of several.

    Raises:
        Invalid: No id and no collection of ids.
    """
    if isinstance(ids, uuid.UUID | str):
        return [check_uuid(ids, "ids")]
    if not isinstance(ids, Collection):
        message = "ids must be an id, or a collection of ids."
        raise Invalid(message, field="ids")
    return [check_uuid(one, "ids") for one in ids]
