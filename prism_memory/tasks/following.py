"""Another embedder in the settings: built and switched to by workers, if wished."""

from __future__ import annotations

import logging
from typing import Any

from django.utils import timezone

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.tasks.base import task
from prism_memory.types import Actor

logger = logging.getLogger("prism_memory")


@task("follow_embedders")
def follow_embedders(**kwargs: Any) -> None:
    """Build spaces for embedders that changed; switch to those that are whole."""
    if not backends.are_vectors_used():
        return
    actor = Actor("task:follow_embedders")
    using = settings.DATABASE
    for space in indexing.follow_embedders(using=using, actor=actor, at=timezone.now()):
        logger.warning("Space %d answers for %r now.", space.id, space.alias)
