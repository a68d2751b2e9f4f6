"""Conflicts of claims: one task that puts them to a judge, and lets old ones lapse.

The database is the queue. Harmless if run twice at once: each takes what the other has
not, and a worker that was killed delays what it held until its claim ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any, Final

from celery import shared_task
from django.utils import timezone

from prism_memory import backends, indexing
from prism_memory.conf import settings
from prism_memory.facts.judging import Rule, judge_conflicts
from prism_memory.facts.lapse import lapse_conflicts
from prism_memory.redaction import Redaction
from prism_memory.types import Actor, Ruling

logger = logging.getLogger("prism_memory")

JUDGE_RUN_SECONDS: Final = 240.0
"""A run that has worked so long ends; the next one of beat goes on."""

LAPSED_AT_ONCE: Final = 200
"""Conflicts of one tenant that one run lets lapse."""


@shared_task(name="prism_memory.judge_conflicts", acks_late=True, ignore_result=True)
def judge_pending(**kwargs: Any) -> None:
    """Settle conflicts that wait, tenant by tenant, as far as the time goes."""
    using, alias = settings.DATABASE, settings.CONFLICT_JUDGE
    end = time.monotonic() + JUDGE_RUN_SECONDS
    for tenant in indexing.tenants(using=using):
        lapse_conflicts(
            using=using,
            tenant=tenant,
            actor=Actor(),
            at=timezone.now(),
            rows=LAPSED_AT_ONCE,
        )
    if not alias:
        return
    rule = ruling_of(alias)
    for tenant in indexing.tenants(using=using):
        if not _judge_tenant(using, tenant, alias, rule, end):
            return


def _judge_tenant(using: str, tenant: str, alias: str, rule: Rule, end: float) -> bool:
    """Put what is due of one tenant to the judge; tell whether others may follow."""
    while time.monotonic() < end:
        done = judge_conflicts(
            using=using, tenant=tenant, actor=Actor(f"judge:{alias}"), rule=rule
        )
        if done.outage:
            logger.warning("Judging stopped early: %s", done.outage)
        if done.outage or not (done.settled or done.resting):
            return not done.is_down
    return False


def ruling_of(alias: str) -> Rule:
    """Return what asks the judge of an alias, without configured secrets."""
    judge = backends.get_judge(alias)
    mask = Redaction.configured().mask

    def rule(claim: str, neighbours: Sequence[str]) -> Ruling:
        return backends.judge_conflict(
            judge,
            mask(claim),
            [mask(text) for text in neighbours],
            timeout_seconds=settings.JUDGE_SECONDS,
        )

    return rule
