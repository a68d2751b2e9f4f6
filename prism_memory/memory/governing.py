"""The door's verbs that govern what is stored: consent, correction, removal, holds."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from prism_memory import lifecycle
from prism_memory.redaction import Redaction
from prism_memory.types import (
    Actor,
    ConsentScope,
    ConsentSource,
    Scope,
    check_text,
    check_uuid,
)


class Governing:
    """What ``Memory`` does to records that are there already. Each verb is audited."""

    scope: Scope
    actor: Actor
    redaction: Redaction
    using: str

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
            using=self.using,
            scope=self.scope,
            actor=self.actor,
            record_id=check_uuid(record_id),
            at=timezone.now(),
            visible=visible,
            source=source,
            label=label,
            reason=self._reason(reason),
        )

    async def aset_consent(self, record_id: uuid.UUID | str, **kwargs: Any) -> None:  # noqa: ANN401
        """Do as ``set_consent``, for asynchronous code."""
        await sync_to_async(self.set_consent)(record_id, **kwargs)

    def _reason(self, reason: str) -> str:
        """Return a reason as the audit may keep it."""
        return self.redaction.text(check_text(reason, "reason"))
