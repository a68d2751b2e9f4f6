"""Names of entities: a task that compares them, and one that looks who has to."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from celery import current_app, shared_task
from django.utils import timezone
from django.utils.module_loading import import_string

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.facts.resolving import resolve, waiting
from prism_memory.tasks.sending import Message, sender

logger = logging.getLogger("prism_memory")


@shared_task(name="prism_memory.resolve_entities", acks_late=True, ignore_result=True)
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
        message(tenant, using).send()


@shared_task(name="prism_memory.sweep_entities", ignore_result=True)
def sweep_entities(**kwargs: Any) -> None:
    """Start it for every tenant that has names to compare."""
    if not is_wanted():
        return
    using = settings.DATABASE
    space = indexing.find_active(using=using, alias=settings.EMBEDDER)
    if space is None:
        return
    for tenant in indexing.tenants(using=using):
        if waiting(using=using, tenant=tenant, space=space):
            message(tenant, using).send()


def is_wanted() -> bool:
    """Tell whether names are compared by their vectors."""
    return settings.ENTITY_RESOLVER == "vectors" and backends.are_vectors_used()


def message(tenant: str, using: str) -> Message:
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
    wanted = message(tenant, using)
    if current_app.conf.task_always_eager:
        resolve_entities.apply(kwargs=dict(wanted.kwargs))
    else:
        sender.post(wanted)
