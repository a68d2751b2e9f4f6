"""How far indexing is: for records just written, for a scope, for a tenant."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from asgiref.sync import sync_to_async
from django.db import transaction

from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.errors import Unsupported
from prism_memory.indexing.spaces import Space
from prism_memory.types import Scope

POLL_SECONDS: Final = 0.05
NEVER_ENDS: Final = "Waiting for vectors cannot end inside an open transaction."


@dataclass(frozen=True)
class Pending:
    """What still waits for its vector.

    Args:
        pending: Texts in the queue.
        failed: Texts given up; ``prism_memory_index retry`` tries them again.
        oldest_at: When the oldest of the pending was written.
    """

    pending: int = 0
    failed: int = 0
    oldest_at: dt.datetime | None = None


@dataclass(frozen=True)
class Indexed:
    """How the indexing of some records ended.

    Args:
        indexed: Records that have their vector.
        failed: Records given up, with the reason.
        pending: Records that still wait.
        errors: Why the last try of a pending record failed; it is tried again later.
    """

    indexed: frozenset[uuid.UUID] = frozenset()
    failed: Mapping[uuid.UUID, str] = field(default_factory=dict)
    pending: frozenset[uuid.UUID] = frozenset()
    errors: Mapping[uuid.UUID, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """A handle on the indexing of records that were just written."""

    using: str
    tenant: str
    space: Space | None
    record_ids: frozenset[uuid.UUID]

    def now(self) -> Indexed:
        """Return how far it is. One query."""
        if self.space is None or not self.record_ids:
            return Indexed()
        given = {
            "tenant": self.tenant,
            "space_id": self.space.id,
            "record_ids": list(self.record_ids),
        }
        sql = named("indexing")["progress_of_records"]
        rows = queries.fetch(self.using, sql, given)
        indexed = frozenset(row["record_id"] for row in rows if row["indexed"])
        failed = {row["record_id"]: row["error"] for row in rows if row["failed"]}
        waiting = {row["record_id"]: row["error"] for row in rows}
        waiting = {i: e for i, e in waiting.items() if i not in {*indexed, *failed}}
        errors = {record_id: error for record_id, error in waiting.items() if error}
        return Indexed(indexed, failed, frozenset(waiting), errors)

    def wait(self, timeout_seconds: float = 30.0) -> Indexed:
        """Wait until none is pending, or the time is over.

        Raises:
            Unsupported: Inside an open transaction, where nobody else can see the
                records and so nobody will ever index them.
        """
        state = self.now()
        if state.pending and in_host_transaction(self.using):
            raise Unsupported(NEVER_ENDS)
        end = time.monotonic() + timeout_seconds
        while state.pending and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            state = self.now()
        return state

    async def anow(self) -> Indexed:
        """Do as ``now``, for asynchronous code."""
        return await sync_to_async(self.now)()

    async def asettle(self, timeout_seconds: float = 30.0) -> Indexed:
        """Do as ``wait``, for asynchronous code, without holding its thread."""
        state = await self.anow()
        if state.pending and await sync_to_async(in_host_transaction)(self.using):
            raise Unsupported(NEVER_ENDS)
        end = time.monotonic() + timeout_seconds
        while state.pending and time.monotonic() < end:
            await asyncio.sleep(POLL_SECONDS)
            state = await self.anow()
        return state

    def settle(self, timeout_seconds: float = 30.0) -> Indexed:
        """Wait until each has its vector or failed a try, or the time is over.

        For who just tried themselves: what is left is in another's hands.
        """
        end = time.monotonic() + timeout_seconds
        while (state := self.now()).pending - state.errors.keys():
            if time.monotonic() >= end:
                break
            time.sleep(POLL_SECONDS)
        return state


def in_host_transaction(using: str) -> bool:
    """Tell whether the caller holds a transaction open.

    The one that Django's TestCase wraps around a test does not count, as it does not
    for ``atomic(durable=True)`` either.
    """
    connection = transaction.get_connection(using)
    blocks = connection.atomic_blocks
    return connection.in_atomic_block and not (
        blocks and getattr(blocks[-1], "_from_testcase", False)
    )


def pending(*, using: str, space: Space | None, scopes: Collection[Scope]) -> Pending:
    """Return what waits in these scopes of one tenant. One query."""
    if space is None or not scopes:
        return Pending()
    given = {
        "tenant": next(iter(scopes)).tenant,
        "space_id": space.id,
        "scope_ids": [scope.id for scope in scopes],
    }
    (row,) = queries.fetch(using, named("indexing")["pending_in_scopes"], given)
    return Pending(**row)


@dataclass(frozen=True)
class Held:
    """What drains hold at this moment.

    Args:
        until: When the last of their claims ends; None where nothing is held.
    """

    held: int = 0
    until: dt.datetime | None = None


def held(*, using: str, space: Space, tenant: str) -> Held:
    """Return what of a tenant is claimed. One query."""
    given = {"tenant": tenant, "space_id": space.id}
    (row,) = queries.fetch(using, named("indexing")["held"], given)
    return Held(**row)


def pending_of_tenant(*, using: str, space: Space, tenant: str) -> Pending:
    """Return what waits of one tenant. One query."""
    given = {"tenant": tenant, "space_id": space.id}
    (row,) = queries.fetch(using, named("indexing")["pending_of_tenant"], given)
    return Pending(**row)
