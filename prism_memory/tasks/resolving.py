"""Names of entities: a task that compares them, and what wakes it."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from celery import current_app
from django.utils import timezone
from django.utils.module_loading import import_string

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.facts.resolving import resolve
from prism_memory.tasks.base import task
from prism_memory.tasks.sending import Message, sender

logger = logging.getLogger("prism_memory")


@task("resolve_entities")
def resolve_entities(*, tenant: str, using: str, **kwargs: Any) -> None:
    """Merge entities of one tenant whose names mean the same."""
    if not is_wanted():
        return
    alias = settings.EMBEDDER
    space = indexing.active(using=using, alias=alias)
    embedder = indexing.embedder_of(space)
    done = resolve(
        using=using,
        tenant=tenant,
        space=space,
        embed=partial(backends.embed, embedder, role="passage"),
        at=timezone.now(),
        batch=settings.EMBED_BATCH,
        judge=import_string(settings.ENTITY_JUDGE) if settings.ENTITY_JUDGE else None,
    )
    if done.outage:
        logger.warning("Comparing names stopped early: %s", done.outage)
    elif done.more:
        resolve_message(tenant, using).send()


def is_wanted() -> bool:
    """Tell whether names are compared by their vectors."""
    return settings.ENTITY_RESOLVER == "vectors" and backends.are_vectors_used()


def resolve_message(tenant: str, using: str) -> Message:
    """Return one run; it expires when the next sweep would send it again."""
    given = {"tenant": tenant, "using": using}
    expires = settings.SWEEP_SECONDS
    return Message(
        resolve_entities, given, ("entities", tenant, using), expires_seconds=expires
    )


def on_resolving_wanted(*, using: str, tenant: str, **kwargs: Any) -> None:
    """Wake a worker; with eager Celery, be the worker."""
    if not settings.WAKE:
        return
    wanted = resolve_message(tenant, using)
    if current_app.conf.task_always_eager:
        resolve_entities.apply(kwargs=dict(wanted.kwargs))
    else:
        sender.post(wanted)
