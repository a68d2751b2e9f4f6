"""The door's verbs over many records: retention, export."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import sync_to_async
from django.core.files import File
from django.utils import timezone

from prism_memory.governance import export_removal, exports
from prism_memory.governance.export import Bounds, export_page
from prism_memory.governance.retention import apply_retention
from prism_memory.memory.verbs import Verbs
from prism_memory.recall.options import limit as bounded
from prism_memory.types import (
    ExportPage,
    ExportState,
    Retained,
    Rules,
    Scope,
    check_bool,
    check_uuid,
)


class Keeping(Verbs):
    """What ``Memory`` does to all that a scope holds. Each verb is audited."""

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

        Entries, turns and notes that were consented to and that nothing withholds,
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

    def start_export(
        self,
        *,
        include_unconsented: bool = False,
        compress: bool = False,
        reason: str = "",
    ) -> ExportState:
        """Have all at and below this scope written to the storage of exports.

        A worker does it; ``export_state`` tells how far it is. Of the same export that
        runs already, or has failed, there is only one.

        Args:
            include_unconsented: Also what no consent was given for, as the data
                subject's own copy by law needs; never what was revoked or is held.
            compress: Write gzip.
            reason: For the audit; no text content.

        Raises:
            NotVisible: Nothing was ever remembered there.
        """
        return exports.start_export(
            **self._who(reason),
            include_unconsented=check_bool(include_unconsented, "include_unconsented"),
            compress=check_bool(compress, "compress"),
        )

    def export_state(self, export_id: uuid.UUID | str) -> ExportState:
        """Return how far an export of exactly this scope is. One query.

        Raises:
            NotVisible: There is no such export.
        """
        return exports.export_state(
            using=self.using, scope=self.scope, run_id=check_uuid(export_id)
        )

    def open_export(
        self, export_id: uuid.UUID | str, part: int | None = None
    ) -> tuple[str, File[Any]]:
        """Return name and content of one file of an export; who opens it closes it.

        Args:
            part: Its number, from 1; the manifest when None.

        Raises:
            NotVisible: There is no such export or part, or not yet, or no more.
            Misconfigured: The storage failed.
        """
        return exports.open_export(
            using=self.using,
            scope=self.scope,
            actor=self.actor,
            run_id=check_uuid(export_id),
            number=part,
            at=timezone.now(),
        )

    def delete_export(self, export_id: uuid.UUID | str, *, reason: str = "") -> None:
        """Remove the files of an export; end it where it still runs.

        Raises:
            NotVisible: There is no such export.
            Misconfigured: The storage failed; what is left goes with the next try.
        """
        export_removal.delete_export(**self._who(reason), run_id=check_uuid(export_id))

    def apply_retention(
        self,
        *,
        max_age_days: int | None = None,
        max_entries: int | None = None,
        batch_size: int | None = None,
        dry_run: bool = False,
    ) -> Retained:
        """Delete what is over these limits of exactly this scope, one batch at most.

        Entries, turns and notes alone. The oldest of those remembered longer ago go
        first, then, up to the rest of the batch, the lowest sequences of what is then
        too many. What is derived from them is blocked, and stays. A hold keeps a record
        even where it is one too many, and nothing newer goes in its stead. Call again
        until nothing is deleted; policies sweep whole tenants.

        Args:
            max_age_days: Days that a record may be kept, from 0.
            max_entries: Records that the scope may hold, from 0.
            batch_size: Records to delete, 1 to 5,000; ``retention_batch`` when None.
            dry_run: Change nothing, and tell what would go.

        Raises:
            Invalid: Neither limit is given, or one is no integer from 0.
            LimitExceeded: ``batch_size`` is out of its bounds.
            Conflict: Others keep the rows locked.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return apply_retention(
            using=self.using,
            scope=self.scope,
            actor=self.actor,
            rules=Rules(max_age_days=max_age_days, max_entries=max_entries),
            batch_size=bounded(
                self.limits, batch_size, "retention_batch", "batch_size"
            ),
            at=timezone.now(),
            dry_run=check_bool(dry_run, "dry_run"),
        )

    async def aapply_retention(self, **kwargs: Any) -> Retained:  # noqa: ANN401
        """Do as ``apply_retention``, for asynchronous code."""
        return await sync_to_async(self.apply_retention)(**kwargs)

    async def aexport_memory(self, identity: Scope, **kwargs: Any) -> ExportPage:  # noqa: ANN401
        """Do as ``export_memory``, for asynchronous code."""
        return await sync_to_async(self.export_memory)(identity, **kwargs)

    async def astart_export(self, **kwargs: Any) -> ExportState:  # noqa: ANN401
        """Do as ``start_export``, for asynchronous code."""
        return await sync_to_async(self.start_export)(**kwargs)

    async def aexport_state(self, export_id: uuid.UUID | str) -> ExportState:
        """Do as ``export_state``, for asynchronous code."""
        return await sync_to_async(self.export_state)(export_id)

    async def aopen_export(
        self, export_id: uuid.UUID | str, part: int | None = None
    ) -> tuple[str, File[Any]]:
        """Do as ``open_export``, for asynchronous code."""
        return await sync_to_async(self.open_export)(export_id, part)

    async def adelete_export(
        self, export_id: uuid.UUID | str, *, reason: str = ""
    ) -> None:
        """Do as ``delete_export``, for asynchronous code."""
        await sync_to_async(self.delete_export)(export_id, reason=reason)
