"""What waits for a person, and what they say of it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from prism_memory.types.answers import Item
from prism_memory.types.facts import FactItem
from prism_memory.types.vocabulary import ReviewDecision, ReviewWhy


class ReviewAction(StrEnum):
    """What a person says of what waits; the last three of a conflict."""

    ACCEPT = "accept"
    REJECT = "reject"
    VALIDATE = "validate"
    ADMIT = "admit"
    DEDUP = "dedup"
    SUPERSEDE = "supersede"


@dataclass(frozen=True)
class ReviewItem:
    """Something that waits for a person, with its words.

    Args:
        item: The record; for a fact, its statement.
        fact: The fact as it stands now, or None where it is none.
        markers: Where rules of the gate matched, as they are stored.
    """

    id: uuid.UUID
    why: ReviewWhy
    opened_at: dt.datetime
    item: Item
    fact: FactItem | None
    markers: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class ReviewPage(Sequence[ReviewItem]):
    """One page of what waits, the oldest first.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[ReviewItem, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Reviewed:
    """What a decision about something that waited did.

    Args:
        record_id: What it was about; a fact's id too.
        replaced: The fact took the place of the one that it waited for.
        waiting: It still waits for one: it may not replace it.
    """

    id: uuid.UUID
    record_id: uuid.UUID
    why: ReviewWhy
    decision: ReviewDecision
    replaced: bool = False
    waiting: bool = False
