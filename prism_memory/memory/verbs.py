"""What the door's verbs have in common: what a memory holds, who acts, and why."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from prism_memory.conf import Limits
from prism_memory.recall.options import limit as bounded
from prism_memory.redaction import Redaction
from prism_memory.types import Actor, Authorization, ReadMode, Scope, check_text


class Verbs:
    """A part of ``Memory``. See there."""

    scope: Scope
    actor: Actor
    mode: ReadMode
    limits: Limits
    redaction: Redaction
    require_consent: bool | None
    authorization: Authorization | None
    embedder: str
    using: str

    def _who(self, reason: str) -> dict[str, Any]:
        """Return what every verb that the audit tells of is given."""
        return {
            "using": self.using,
            "scope": self.scope,
            "actor": self.actor,
            "at": timezone.now(),
            "reason": self._noted(reason, "reason"),
        }

    def _page(self, limit: int | None, cursor: str | None) -> dict[str, Any]:
        """Return what every verb that lists is given."""
        rows = bounded(self.limits, limit, "list_rows", "limit")
        return {"using": self.using, "rows": rows, "cursor": cursor}

    def _noted(self, text: str, name: str) -> str:
        """Return a text as the audit may keep it."""
        return self.redaction.text(check_text(text, name))
