"""``memory.runs``: the tenant's long work, and texts that were given up."""

from __future__ import annotations

import uuid
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory.db.tenancy import for_its_tenant
from prism_memory.governance import running
from prism_memory.memory.facing import Facing
from prism_memory.spans import spanned
from prism_memory.types import FailedPage, RunPage, RunStatus, check_uuid


@spanned("runs")
@for_its_tenant
class Runs(Facing):
    """The runs of one tenant, for its own memory alone. Call it to list them.

    page = memory.runs(state="failed")
    memory.runs.retry(page.items[0].id, reason="the storage is back")
    """

    def __call__(
        self,
        *,
        kind: str | None = None,
        state: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> RunPage:
        """Return the tenant's runs, the newest first. One query.

        Args:
            kind: Only of this kind, exactly.
            state: Only ``running``, ``done``, ``failed`` or ``cancelled`` ones.
            limit: Rows of the page; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            ScopeDenied: The memory's scope is below the tenant.
            Invalid: The cursor is none of this list, or there is no such state.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        page = self._page(limit, cursor)
        return running.list_runs(scope=self.scope, kind=kind, state=state, **page)

    def get(self, run_id: uuid.UUID | str) -> RunStatus:
        """Return how far a run is. One query.

        Raises:
            ScopeDenied: The memory's scope is below the tenant.
            NotVisible: The tenant has no such run.
        """
        return running.get_run(
            using=self.memory.using, scope=self.scope, run_id=check_uuid(run_id)
        )

    def cancel(self, run_id: uuid.UUID | str, *, reason: str = "") -> RunStatus:
        """End a run that runs or is to be tried again; what is done stays done.

        Args:
            reason: For the audit; no text content.

        Raises:
            ScopeDenied: The memory's scope is below the tenant.
            NotVisible: The tenant has no such run.
            Conflict: It has ended.
        """
        return running.cancel_run(**self._who(reason), run_id=check_uuid(run_id))

    def retry(self, run_id: uuid.UUID | str, *, reason: str = "") -> RunStatus:
        """Let a worker go on with a run that failed, was cancelled or lost its worker.

        Args:
            reason: For the audit; no text content.

        Raises:
            ScopeDenied: The memory's scope is below the tenant.
            NotVisible: The tenant has no such run.
            Conflict: It is done, somebody works on it, or no worker does such work.
        """
        return running.retry_run(**self._who(reason), run_id=check_uuid(run_id))

    def failed_texts(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> FailedPage:
        """Return the tenant's texts that were given up, the latest first. Two queries.

        Args:
            limit: Rows of the page; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            ScopeDenied: The memory's scope is below the tenant.
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        page = self._page(limit, cursor)
        return running.list_failed(scope=self.scope, alias=self.memory.embedder, **page)

    def retry_failed_texts(self, *, reason: str = "") -> int:
        """Give the tenant's texts that were given up all their tries; return how many.

        Args:
            reason: For the audit; no text content.

        Raises:
            ScopeDenied: The memory's scope is below the tenant.
        """
        return running.retry_failed(**self._who(reason), alias=self.memory.embedder)

    async def aget(self, run_id: uuid.UUID | str) -> RunStatus:
        """Do as ``get``, for asynchronous code."""
        return await sync_to_async(self.get)(run_id)

    async def acancel(self, run_id: uuid.UUID | str, **kwargs: Any) -> RunStatus:  # noqa: ANN401
        """Do as ``cancel``, for asynchronous code."""
        return await sync_to_async(self.cancel)(run_id, **kwargs)

    async def aretry(self, run_id: uuid.UUID | str, **kwargs: Any) -> RunStatus:  # noqa: ANN401
        """Do as ``retry``, for asynchronous code."""
        return await sync_to_async(self.retry)(run_id, **kwargs)

    async def alist(self, **kwargs: Any) -> RunPage:  # noqa: ANN401
        """List, for asynchronous code."""
        return await sync_to_async(self.__call__)(**kwargs)

    async def afailed_texts(self, **kwargs: Any) -> FailedPage:  # noqa: ANN401
        """Do as ``failed_texts``, for asynchronous code."""
        return await sync_to_async(self.failed_texts)(**kwargs)

    async def aretry_failed_texts(self, **kwargs: Any) -> int:  # noqa: ANN401
        """Do as ``retry_failed_texts``, for asynchronous code."""
        return await sync_to_async(self.retry_failed_texts)(**kwargs)
