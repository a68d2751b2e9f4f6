"""Drop the names of entities that no fact says any more."""

from __future__ import annotations

import time
import uuid
from typing import Any

from prism_memory.facts.unspoken import drop_unspoken
from prism_memory.tasks.base import RETRYING, slice_seconds, task
from prism_memory.tasks.sending import Message
from prism_memory.types import NIL


@task("tidy_entities", **RETRYING)
def tidy_entities(*, using: str, tenant: str, entity: str = "", **kwargs: Any) -> None:
    """Drop such names of one tenant.

    Args:
        entity: Where the message before stopped.
    """
    seconds, began = slice_seconds(), time.monotonic()
    place: uuid.UUID | None = uuid.UUID(entity) if entity else NIL
    while place is not None:
        if seconds is not None and time.monotonic() - began >= seconds:
            goes_on(using, tenant, place).send()
            return
        place = drop_unspoken(using=using, tenant=tenant, after=place).next


def goes_on(using: str, tenant: str, place: uuid.UUID) -> Message:
    """Return the message that goes on where this one stopped."""
    given = {"using": using, "tenant": tenant, "entity": str(place)}
    return Message(tidy_entities, given, key=("tidy", tenant), expires_seconds=86_400.0)
