"""Conflicts of claims that wait for somebody: listed, and settled by a person."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async

from prism_memory import facts as floor
from prism_memory.memory.facing import Facing
from prism_memory.types import (
    ConflictPage,
    Settled,
    Verdict,
    check_choice,
    check_uuid,
)


class Settling(Facing):
    """Verbs of ``memory.facts`` about conflicts of exactly the memory's scope."""

    def conflicts(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> ConflictPage:
        """Return conflicts that wait, the oldest first. Two queries.

        Of claims that the gate holds back, no words.

        Args:
            limit: Rows of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        page = floor.conflicts(reader=self._reader(), **self._page(limit, cursor))
        items = tuple(
            replace(
                item,
                fact=self._masked(item.fact),
                others=tuple(map(self._masked, item.others)),
            )
            for item in page.items
        )
        return replace(page, items=items)

    def settle_conflict(
        self,
        decision_id: uuid.UUID | str,
        verdict: Verdict,
        *,
        other: uuid.UUID | str | None = None,
        reason: str = "",
    ) -> Settled:
        """Say what becomes of a claim that waits. For code and people only.

        Args:
            verdict: ``admit``: both stand; ``dedup``: the new claim is forgotten, or
                replaces what it repeats where it is better vouched for; ``supersede``:
                it replaces a neighbour, now or once it may.
            other: Which neighbour; the nearest when None.
            reason: For the audit; no text content.

        Raises:
            NotVisible: No such conflict in this scope.
            Invalid: The verdict is none of these, or ``other`` is no neighbour.
            Conflict: It is settled already; a hold keeps the claim; or it began no
                later than what it would end.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return floor.settle(
            **self._who(reason),
            decision_id=check_uuid(decision_id),
            verdict=check_choice(verdict, Verdict, "verdict"),
            other=None if other is None else check_uuid(other, "other"),
        )

    async def aconflicts(self, **kwargs: Any) -> ConflictPage:  # noqa: ANN401
        """Do as ``conflicts``, for asynchronous code."""
        return await sync_to_async(self.conflicts)(**kwargs)

    async def asettle_conflict(self, *args: Any, **kwargs: Any) -> Settled:  # noqa: ANN401
        """Do as ``settle_conflict``, for asynchronous code."""
        return await sync_to_async(self.settle_conflict)(*args, **kwargs)
