"""What the tests of scored recalls ask, and of which records."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.utils import timezone

from prism_memory.models import Record
from prism_memory.types import Recalled
from tests.factories import make_memory, remember

QUESTION = "Who drinks green tea?"
TEXTS = (
    "Ada drinks green tea.",
    "Bob drinks black coffee.",
    "The tea is green.",
    "Nobody drinks here.",
    "The train leaves at noon.",
)
DAY = dt.timedelta(days=1)
WEEK_MS = 7 * 86_400_000


def texts(found: Any) -> list[str]:
    return [hit.text for hit in found]


def recalled(top_k: int = 32, **options: Any) -> Recalled:
    return make_memory().recall(QUESTION, top_k, **options)


def aged(*ages_days: float | None, importances: Any = ()) -> list[uuid.UUID]:
    """Remember one text of each age, as old as that at the recall, to the second."""
    now = timezone.now()
    ids = remember(*TEXTS[: len(ages_days)], wait=True)
    for place, (record_id, age) in enumerate(zip(ids, ages_days, strict=True)):
        importance = importances[place] if importances else None
        happened = None if age is None else now - age * DAY
        Record.objects.filter(tenant="acme", id=record_id).update(
            happened_at=happened, importance=importance
        )
    return ids
