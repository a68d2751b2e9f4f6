"""The queue of texts: one task that embeds, one that looks who has to, and wake-ups.

The database is the queue. A message only says that it is worth looking, and the sweep
of beat is the guarantee: a lost message costs one sweep, a worker that was killed
delays the batch it held until its claim ends, and neither costs a vector.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Final

from celery import current_app, shared_task

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.models import SpaceState
from prism_memory.tasks.sending import Message, sender

logger = logging.getLogger("prism_memory")

DRAIN_SECONDS: Final = 300.0
"""A drain that has worked so long makes room for other tenants and comes again."""
BUILDING_SECONDS: Final = 60.0
"""Likewise in a space that is being built: the one that answers waits behind it."""


@shared_task(name="prism_memory.drain", acks_late=True, ignore_result=True)
def drain(*, tenant: str, using: str, alias: str, **kwargs: Any) -> None:
    """Embed what waits for one tenant, in each space that is written to."""
    if not backends.are_vectors_used():
        return
    # What is being built first: once it answers, it shall lack nothing that stands in
    # the one before it.
    more = [
        drain_space(tenant=tenant, using=using, space=space)
        for space in reversed(indexing.live(using=using, alias=alias))
    ]
    if any(more):
        wake_up(tenant, using, alias).send()


def drain_space(*, tenant: str, using: str, space: indexing.Space) -> bool:
    """Embed what waits in one space; tell whether more does."""
    seconds = DRAIN_SECONDS
    if space.state == SpaceState.BUILDING:
        seconds = BUILDING_SECONDS
    embedder = indexing.embedder_of(space)
    done = indexing.drain(
        using=using,
        tenant=tenant,
        space=space,
        embed=partial(backends.embed, embedder, role="passage"),
        batch=settings.EMBED_BATCH,
        max_seconds=seconds,
    )
    if done.behind:
        logger.warning("The external index of vectors lags behind: %s", done.behind)
    if done.outage:
        logger.warning("Indexing stopped early: %s", done.outage)
    if done.outage or done.behind:
        return False  # the next sweep tries again
    return indexing.is_waiting(using=using, space=space, tenant=tenant)


@shared_task(name="prism_memory.sweep", ignore_result=True)
def sweep(**kwargs: Any) -> None:
    """Start a drain for every tenant that has something to embed, by any embedder."""
    using = settings.DATABASE
    for alias in settings.EMBEDDERS if backends.are_vectors_used() else ():
        spaces = indexing.find_live(using=using, alias=alias)
        for tenant in indexing.waiting(using=using, spaces=spaces):
            wake_up(tenant, using, alias).send()


def wake_up(tenant: str, using: str, alias: str) -> Message:
    """Return one drain; it expires when the next sweep would send it again."""
    return Message(
        task=drain,
        kwargs={"tenant": tenant, "using": using, "alias": alias},
        key=(tenant, using, alias),
        expires_seconds=settings.SWEEP_SECONDS,
    )


def on_indexing_wanted(*, tenant: str, using: str, alias: str, **kwargs: Any) -> None:
    """Wake a worker; with eager Celery, be the worker."""
    if not (settings.WAKE and backends.are_vectors_used()):
        return
    if current_app.conf.task_always_eager:
        drain.apply(kwargs={"tenant": tenant, "using": using, "alias": alias})
    else:
        sender.post(wake_up(tenant, using, alias))
