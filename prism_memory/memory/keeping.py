"""The door's verbs over many records: export."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from prism_memory.conf import Limits
from prism_memory.governance.export import Bounds, export_page
from prism_memory.recall.options import limit as bounded
from prism_memory.redaction import Redaction
from prism_memory.types import Actor, ExportPage, Scope


class Keeping:
    """What ``Memory`` does to all that a scope holds. Each verb is audited."""

    scope: Scope
    actor: Actor
    limits: Limits
    redaction: Redaction
    using: str

    def export_memory(
        self,
        identity: Scope,
        *,
        cursor: str | None = None,
        limit: int | None = None,
        max_bytes: int | None = None,
        max_ms: int | None = None,
    ) -> ExportPage:
        """Return a page of exactly this scope, in the order of (sequence, id).

        Entries, turns and notes with an explicit consent that nothing withholds,
        redacted once more. Following ``next_cursor`` gives each that was there before
        the first page exactly once, whatever is written meanwhile.

        Args:
            identity: The memory's scope once more, in all its parts.
            cursor: The ``next_cursor`` of the page before.
            limit: Rows of the page, 1 to 200; ``export_rows`` when None.
            max_bytes: Of the page; ``export_bytes`` when None.
            max_ms: For the page; ``export_milliseconds`` when None.

        Raises:
            ScopeDenied: ``identity`` is another scope, or none.
            Invalid: The cursor is none of this scope's exports.
            LimitExceeded: An argument is out of its bounds; or the page is over its
                bytes or its time: go on with a smaller ``limit``.
        """
        bounds = Bounds(
            rows=bounded(self.limits, limit, "export_rows", "limit"),
            bytes=bounded(self.limits, max_bytes, "export_bytes", "max_bytes"),
            seconds=bounded(self.limits, max_ms, "export_milliseconds", "max_ms")
            / 1_000,
        )
        return export_page(
            using=self.using,
            scope=self.scope,
            actor=self.actor,
            identity=identity,
            cursor=cursor,
            bounds=bounds,
            redaction=self.redaction,
            at=timezone.now(),
        )

    async def aexport_memory(self, identity: Scope, **kwargs: Any) -> ExportPage:  # noqa: ANN401
        """Do as ``export_memory``, for asynchronous code."""
        return await sync_to_async(self.export_memory)(identity, **kwargs)
