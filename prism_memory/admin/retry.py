"""Try again what the embedder gave up on."""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.utils import timezone

from prism_memory import audit, indexing, signals
from prism_memory.admin.using import using
from prism_memory.types import Actor


def retry(tenant: str, space: indexing.Space, actor: Actor) -> int:
    """Give what failed all its tries again; return how many texts."""
    with transaction.atomic(using=using()):
        count = indexing.retry_failed(using=using(), tenant=tenant, space=space)
        audit.record(
            using=using(),
            tenant=tenant,
            actor=actor,
            action="index.retry",
            target=f"space:{space.id}",
            at=timezone.now(),
            detail={"texts": count},
        )
        wake = partial(
            signals.indexing_wanted.send_robust,
            sender=indexing.Space,
            tenant=tenant,
            using=using(),
            alias=space.alias,
        )
        transaction.on_commit(wake, using=using(), robust=True)
    return count
