"""Seal a tenant's audit, and tell what is wrong."""

from __future__ import annotations

import logging
from typing import Any

from django.utils import timezone

from prism_memory import governance
from prism_memory.conf import settings
from prism_memory.tasks.base import RETRYING, task

logger = logging.getLogger("prism_memory")


@task("seal", **RETRYING)
def seal(*, using: str, tenant: str, **kwargs: Any) -> None:
    """Seal what the setting ``SEALS`` says; harmless if run twice.

    What was removed or set back behind the app's back is an error in the log, by ids,
    and an event ``audit.violation`` in the trail.

    Args:
        tenant: Empty for the installation's events.
    """
    if settings.SEALS == "off":
        return
    for made in governance.seal(
        using=using,
        tenant=tenant,
        at=timezone.now(),
        content=settings.SEALS == "content" and tenant != "",
    ):
        if made.violations:
            logger.error(
                "Seal %s of tenant %r found %s records that no deletion accounts for,"
                " or that were set back: %s",
                made.number,
                tenant,
                made.violations,
                ", ".join(one.ref for one in made.findings),
            )
