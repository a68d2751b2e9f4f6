"""Files of exports that no run names: a process that died may have left them."""

from __future__ import annotations

import logging
from typing import Any

from django.utils import timezone

from prism_memory import indexing
from prism_memory.conf import settings
from prism_memory.errors import Misconfigured
from prism_memory.governance import export_removal
from prism_memory.tasks.base import task

logger = logging.getLogger("prism_memory")


@task("clean_exports")
def clean_exports(**kwargs: Any) -> None:
    """Remove files that nobody names, of every tenant's exports."""
    using = settings.DATABASE
    tenants = indexing.tenants(using=using)
    try:
        export_removal.remove_strays(using=using, tenants=tenants, at=timezone.now())
    except Misconfigured as error:
        logger.warning("Files of exports were not looked through: %s", error)
