"""The door's verbs that govern what is stored: consent, correction, removal, holds."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory import lifecycle
from prism_memory.lifecycle.decisions import consent_history
from prism_memory.memory.verbs import Verbs
from prism_memory.types import (
    ConsentHistory,
    ConsentScope,
    ConsentSource,
    Corrected,
    check_uuid,
)


class Governing(Verbs):
    """What ``Memory`` does to records that are there already. Each verb is audited."""

    def set_consent(
        self,
        record_id: uuid.UUID | str,
        *,
        visible: bool | None = None,
        source: ConsentSource | None = None,
        label: ConsentScope | None = None,
        reason: str = "",
    ) -> None:
        """Show or hide a record of exactly this scope, and all derived from it.

        Args:
            visible: True grants, False revokes, None keeps.
            source: Who consents; None keeps.
            label: What for; None keeps.
            reason: For the audit; no text content.

        Raises:
            NotVisible: No such record in this scope.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        lifecycle.set_consent(
            **self._who(reason),
            record_id=check_uuid(record_id),
            visible=visible,
            source=source,
            label=label,
        )

    async def aset_consent(self, record_id: uuid.UUID | str, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``set_consent``, for asynchronous code."""
        await sync_to_async(self.set_consent)(record_id, **kwargs)

    def consent_history(
        self,
        record_id: uuid.UUID | str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ConsentHistory:
        """Return each decision about a record of exactly this scope, the oldest first.

        Also of one that is hidden. A consent that was assumed when the record was
        written was no decision. Two queries.

        Args:
            limit: Decisions of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            NotVisible: No such record in this scope.
            Invalid: The cursor is none of this history.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        return consent_history(
            scope=self.scope,
            record_id=check_uuid(record_id),
            **self._page(limit, cursor),
        )

    async def aconsent_history(
        self,
        record_id: uuid.UUID | str,
        **kwargs: Any,  # noqa: ANN401
    ) -> ConsentHistory:
        """Do as ``consent_history``, for asynchronous code."""
        return await sync_to_async(self.consent_history)(record_id, **kwargs)

    def correct(
        self, record_id: uuid.UUID | str, text: str, *, reason: str = ""
    ) -> Corrected:
        """Replace the words of a record of exactly this scope: the old were wrong.

        Id, key, sequence, metadata, consent, importance and trust stay. Its vector is
        made anew, later. What is derived from it is blocked, it itself is not. The
        same words again change nothing.

        Args:
            text: The new words, prepared as those of ``remember`` are.
            reason: For the audit; no text content.

        Raises:
            NotVisible: No such record in this scope.
            Invalid: The text is blank or cannot be stored.
            LimitExceeded: It is too long, or more derives from the record than is
                blocked at once; then nothing is changed.
            Conflict: The record is revoked or held.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return lifecycle.correct(
            **self._who(reason),
            record_id=check_uuid(record_id),
            text=text,
            limits=self.limits,
            redaction=self.redaction,
            embedder=self.embedder,
        )

    async def acorrect(
        self,
        record_id: uuid.UUID | str,
        text: str,
        **kwargs: Any,  # noqa: ANN401
    ) -> Corrected:
        """Do as ``correct``, for asynchronous code."""
        return await sync_to_async(self.correct)(record_id, text, **kwargs)
