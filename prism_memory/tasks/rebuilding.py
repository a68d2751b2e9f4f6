"""Embed a tenant anew, a while at a time. Started by hand, never by beat."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

from celery import shared_task

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.errors import Conflict, ProviderRejected, ProviderUnavailable
from prism_memory.tasks.sending import Message
from prism_memory.types import Actor

logger = logging.getLogger("prism_memory")

REBUILD_SECONDS: Final = 300.0
"""After so long a rebuild makes room for other work, and comes again."""


@shared_task(name="prism_memory.rebuild", acks_late=True, ignore_result=True)
def rebuild(*, using: str, tenant: str, alias: str, **kwargs: Any) -> None:
    """Embed all of a tenant anew; another message goes on where this one stops."""
    space = indexing.active(using=using, alias=alias)
    embedder = indexing.embedder_of(space)
    try:
        done = indexing.rebuild(
            using=using,
            tenant=tenant,
            space=space,
            embed=partial(backends.embed, embedder, role="passage"),
            rows=settings.REBUILD_ROWS,
            actor=Actor("task:rebuild"),
            max_seconds=REBUILD_SECONDS,
        )
    except Conflict:
        return  # somebody else is on it
    except (ProviderUnavailable, ProviderRejected) as error:
        logger.warning("Rebuilding stopped early: %s", error)
        return  # the run has failed, says why, and can go on
    if not done.done:
        given = {"using": using, "tenant": tenant, "alias": alias}
        Message(rebuild, given, key=("rebuild", tenant, using, alias)).send()
