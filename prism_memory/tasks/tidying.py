"""Drop the names of entities that no fact says any more, tenant by tenant, at night."""

from __future__ import annotations

import time
import uuid
from typing import Any, Final

from celery import shared_task

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.facts.unspoken import drop_unspoken
from prism_memory.tasks.sending import Message
from prism_memory.types import NIL

TIDY_SECONDS: Final = 300.0
"""One that has worked so long makes room for others and sends itself again."""


@shared_task(name="prism_memory.tidy_entities", acks_late=True, ignore_result=True)
def tidy_entities(*, after: str = "", entity: str = "", **kwargs: Any) -> None:
    """Drop such names of every tenant.

    Args:
        after: The tenant that the message before had done last.
        entity: Where it stopped within the one that follows.
    """
    using, end = settings.DATABASE, time.monotonic() + TIDY_SECONDS
    place: uuid.UUID | None = uuid.UUID(entity) if entity else NIL
    for tenant in indexing.tenants(using=using):
        if tenant <= after:
            continue
        while place is not None:
            if time.monotonic() >= end:
                goes_on(after, place).send()
                return
            place = drop_unspoken(using=using, tenant=tenant, after=place).next
        after, place = tenant, NIL


def goes_on(after: str, place: uuid.UUID) -> Message:
    """Return the message that goes on where this one stopped."""
    return Message(
        task=tidy_entities,
        kwargs={"after": after, "entity": str(place)},
        key=("tidy",),
        expires_seconds=86_400.0,
    )
