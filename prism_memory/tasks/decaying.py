"""Put aside facts that fade, and promote others, where the settings ask for it.

Harmless if run twice at once: the later takes up what the earlier was at, which stops.
"""

from __future__ import annotations

import time
from typing import Any, Final

from celery import shared_task

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.governance.decay import Rules, decay
from prism_memory.governance.promotion import promote
from prism_memory.tasks.sending import Message
from prism_memory.types import Actor

DECAY_SECONDS: Final = 300.0
"""One that has worked so long makes room for others and sends itself again."""


@shared_task(name="prism_memory.decay", acks_late=True, ignore_result=True)
def fade(*, after: str = "", **kwargs: Any) -> None:
    """Put aside what fades of every tenant's facts.

    Args:
        after: The tenant that the message before had done last.
    """
    rules = Rules.configured()
    if rules.are_off:
        return
    using, end = settings.DATABASE, time.monotonic() + DECAY_SECONDS
    last = after
    for tenant in indexing.tenants(using=using):
        if tenant <= after:
            continue
        left = end - time.monotonic()
        if left <= 0:
            goes_on(last).send()
            return
        done = decay(
            using=using, tenant=tenant, actor=Actor(), rules=rules, max_seconds=left
        )
        if done.ended == "unfinished":
            goes_on(last).send()
            return
        last = tenant


@shared_task(name="prism_memory.promote", ignore_result=True)
def promote_facts(**kwargs: Any) -> None:
    """Open the gate of what has proven of use, where the settings ask for it."""
    using = settings.DATABASE
    if settings.PROMOTE == "off":
        return
    for tenant in indexing.tenants(using=using):
        promote(using=using, tenant=tenant, actor=Actor())


def goes_on(after: str) -> Message:
    """Return the message that goes on after a tenant that is done."""
    return Message(
        task=fade,
        kwargs={"after": after},
        key=("decay",),
        expires_seconds=86_400.0,
    )
