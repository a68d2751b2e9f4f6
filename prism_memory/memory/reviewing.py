"""What waits for a person, and their decisions: for people and code, never tools."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from prism_memory.facts import decide, list_reviews
from prism_memory.memory.facing import Facing
from prism_memory.types import (
    ReviewAction,
    Reviewed,
    ReviewItem,
    ReviewPage,
    ReviewWhy,
    check_choice,
    check_uuid,
)


class Reviewing(Facing):
    """Verbs of ``memory.facts`` about what waits in exactly the memory's scope."""

    def reviews(
        self,
        *,
        why: ReviewWhy | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> ReviewPage:
        """Return what waits for a person here, the oldest first, with its words.

        Facts and other records, also those that the gate holds back: show it to whoever
        governs. Four queries.

        Args:
            why: ``proposal``, ``quarantined`` or ``conflict``; any when None.
            limit: Rows of the page, 1 to 200; ``list_rows`` when None.
            cursor: The ``next_cursor`` of the page before.

        Raises:
            Invalid: The cursor is none of this list.
            LimitExceeded: ``limit`` is out of its bounds.
        """
        page = list_reviews(
            scope=self.scope,
            at=timezone.now(),
            why=None if why is None else check_choice(why, ReviewWhy, "why"),
            **self._page(limit, cursor),
        )
        return replace(page, items=tuple(map(self._masked_review, page.items)))

    def decide(
        self,
        review_id: uuid.UUID | str,
        decision: ReviewAction,
        *,
        reason: str = "",
        force: bool = False,
    ) -> Reviewed:
        """Decide about something that waits: of two people at once, one does.

        Args:
            review_id: Of ``ReviewItem``.
            decision: ``accept`` a proposal, ``validate`` what is quarantined, or
                ``reject``: that retracts a proposal, forgets a quarantined fact, and
                leaves any other record held back. A conflict is settled as ``admit``,
                ``dedup`` or ``supersede``, about its nearest neighbour;
                ``settle_conflict`` about another.
            reason: For the audit and the history; no text content.
            force: Validate although rules of the gate still match.

        Raises:
            NotVisible: No such review in this scope.
            Conflict: It was decided already, or the verb refuses.
            StillFlagged: Rules match still; nothing is changed.
            Invalid: What waits for that reason is not decided so.
            Unsupported: In a host's transaction that is not READ COMMITTED.
        """
        return decide(
            **self._who(reason),
            review_id=check_uuid(review_id, "review_id"),
            action=check_choice(decision, ReviewAction, "decision"),
            force=force,
        )

    async def areviews(self, **kwargs: Any) -> ReviewPage:  # noqa: ANN401 - as reviews
        """Do as ``reviews``, for asynchronous code."""
        return await sync_to_async(self.reviews)(**kwargs)

    async def adecide(self, *args: Any, **kwargs: Any) -> Reviewed:  # noqa: ANN401
        """Do as ``decide``, for asynchronous code."""
        return await sync_to_async(self.decide)(*args, **kwargs)

    def _masked_review(self, found: ReviewItem) -> ReviewItem:
        item = self.memory._masked(found.item)  # noqa: SLF001 - its other half
        fact = None if found.fact is None else self._masked(found.fact)
        return replace(found, item=item, fact=fact)
