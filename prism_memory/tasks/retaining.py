"""Delete what policies of retention say, tenant by tenant, and go on if it takes long.

Harmless if run twice at once: the later takes up what the earlier was at, which stops.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence
from typing import Any, Final

from celery import shared_task

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.errors import Conflict
from prism_memory.governance.retention import Position, sweep_all
from prism_memory.tasks.sending import Message
from prism_memory.types import Actor

logger = logging.getLogger("prism_memory")

RETAIN_SECONDS: Final = 300.0
"""One that has worked so long makes room for others and sends itself again."""


@shared_task(name="prism_memory.retain", acks_late=True, ignore_result=True)
def retain(*, after: Sequence[str] | None = None, **kwargs: Any) -> None:
    """Apply every policy in force of every tenant.

    Args:
        after: Tenant and policy that the message before had done last.
    """
    using = settings.DATABASE
    try:
        done = sweep_all(
            using=using,
            tenants=indexing.tenants(using=using),
            actor=Actor(),
            batch=settings.RETENTION_BATCH,
            max_seconds=RETAIN_SECONDS,
            after=None if after is None else (after[0], uuid.UUID(after[1])),
        )
    except Conflict as error:
        logger.warning("Retention stopped early: %s The next run goes on.", error)
        return
    if done.position is not None:
        goes_on(done.position).send()


def goes_on(position: Position) -> Message:
    """Return the message that goes on after what is done."""
    tenant, policy_id = position
    return Message(
        task=retain,
        kwargs={"after": [tenant, str(policy_id)]},
        key=("retain",),
        expires_seconds=86_400.0,
    )
