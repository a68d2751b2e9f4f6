"""The queue of texts: the task that embeds, and what wakes it.

The database is the queue. A message only says that it is worth looking, and the sweep
of beat is the guarantee: a lost message costs one sweep, a worker that was killed
delays the batch it held until its claim ends, and neither costs a vector.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from functools import partial
from typing import Any, Final, Literal

from celery import current_app

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.tasks.base import slice_seconds, task
from prism_memory.tasks.sending import Message, sender

logger = logging.getLogger("prism_memory")

REMEMBERED: Final = 10_000
"""Tenants whose last turn a worker process remembers."""

_turns: OrderedDict[tuple[str, str, str], float] = OrderedDict()
"""When this process last worked for a tenant: by the clock, as messages tell it."""


@task("drain")
def drain(
    *,
    tenant: str,
    using: str,
    alias: str,
    sent_at: float | None = None,
    **kwargs: Any,
) -> None:
    """Embed what waits for one tenant, in each space that is written to.

    A tenant that writes much wakes often: what was sent before its last turn says
    nothing new, and must not hold up the turns of others.

    Args:
        sent_at: When somebody was woken; None for the next turn of one that made room.
    """
    key, began = (tenant, using, alias), time.time()
    if sent_at is not None and sent_at <= _turns.get(key, 0.0):
        return
    if not backends.are_vectors_used():
        return
    # What is being built first: once it answers, it shall lack nothing that stands in
    # the one before it.
    ends = [
        drain_space(tenant=tenant, using=using, space=space)
        for space in reversed(indexing.embeddable(using=using, alias=alias))
    ]
    # One that ended saw all that was written before it began.
    _remember(key, began if set(ends) == {"done"} else time.time())
    if "more" in ends:
        go_on(tenant, using, alias).send()


def _remember(key: tuple[str, str, str], moment: float) -> None:
    _turns[key] = moment
    _turns.move_to_end(key)
    if len(_turns) > REMEMBERED:
        _turns.popitem(last=False)


def drain_space(
    *, tenant: str, using: str, space: indexing.Space
) -> Literal["done", "more", "outage"]:
    """Embed what waits in one space, for one slice; tell how that ended."""
    embedder = indexing.embedder_of(space)
    done = indexing.drain(
        using=using,
        tenant=tenant,
        space=space,
        embed=partial(backends.embed, embedder, role="passage"),
        batch=settings.EMBED_BATCH,
        max_seconds=slice_seconds(),
    )
    if done.behind:
        logger.warning("The external index of vectors lags behind: %s", done.behind)
    if done.outage:
        logger.warning("Indexing stopped early: %s", done.outage)
    if done.outage or done.behind:
        return "outage"  # the next sweep tries again
    more = indexing.is_waiting(using=using, space=space, tenant=tenant)
    return "more" if more else "done"


def wake_up(tenant: str, using: str, alias: str) -> Message:
    """Return one drain; it expires when the next sweep would send it again."""
    return _message(tenant, using, alias, time.time())


def go_on(tenant: str, using: str, alias: str) -> Message:
    """Return the next turn of a drain that made room."""
    return _message(tenant, using, alias, None)


def _message(tenant: str, using: str, alias: str, sent_at: float | None) -> Message:
    given = {"tenant": tenant, "using": using, "alias": alias, "sent_at": sent_at}
    return Message(
        task=drain,
        kwargs=given,
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
