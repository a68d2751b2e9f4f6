"""Seal the audit of all tenants, one after the other, and tell what is wrong."""

from __future__ import annotations

import logging
from typing import Any

from celery import shared_task
from django.utils import timezone

from prism_memory import governance
from prism_memory.conf import settings

logger = logging.getLogger("prism_memory")


@shared_task(name="prism_memory.seal", ignore_result=True)
def seal(**kwargs: Any) -> None:
    """Seal what the setting ``SEALS`` says; run by beat, harmless if run twice.

    What was removed or set back behind the app's back is an error in the log, by ids,
    and an event ``audit.violation`` in the trail.
    """
    if settings.SEALS == "off":
        return
    using = settings.DATABASE
    for tenant in governance.trails(using=using):
        for made in governance.seal(
            using=using,
            tenant=tenant,
            at=timezone.now(),
            content=settings.SEALS == "content" and tenant != "",
        ):
            if made.violations:
                logger.error(
                    "Seal %s of tenant %r found %s records that no deletion accounts"
                    " for, or that were set back: %s",
                    made.number,
                    tenant,
                    made.violations,
                    ", ".join(one.ref for one in made.findings),
                )
