"""Conflicts of claims: one task that puts them to a judge, and lets old ones lapse.

The database is the queue. Harmless if run twice at once: each takes what the other has
not, and a worker that was killed delays what it held until its claim ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any, Final

from django.utils import timezone

from prism_memory import backends
from prism_memory.conf import settings
from prism_memory.facts.judging import Rule, judge_conflicts
from prism_memory.facts.lapse import lapse_conflicts
from prism_memory.redaction import Redaction
from prism_memory.tasks.base import RETRYING, slice_seconds, task
from prism_memory.types import Actor, Ruling

logger = logging.getLogger("prism_memory")

LAPSED_AT_ONCE: Final = 200
"""Conflicts of one tenant that one run lets lapse."""


@task("judge_conflicts", **RETRYING)
def judge_pending(*, using: str, tenant: str, **kwargs: Any) -> None:
    """Settle conflicts of one tenant that wait, as far as a slice goes.

    What is left waits for the next sweep.
    """
    lapse_conflicts(
        using=using,
        tenant=tenant,
        actor=Actor(),
        at=timezone.now(),
        rows=LAPSED_AT_ONCE,
    )
    alias = settings.CONFLICT_JUDGE
    if alias:
        _judge_tenant(using, tenant, alias, ruling_of(alias))


def _judge_tenant(using: str, tenant: str, alias: str, rule: Rule) -> None:
    """Put what is due of one tenant to the judge."""
    seconds, began = slice_seconds(), time.monotonic()
    while seconds is None or time.monotonic() - began < seconds:
        done = judge_conflicts(
            using=using, tenant=tenant, actor=Actor(f"judge:{alias}"), rule=rule
        )
        if done.outage:
            logger.warning("Judging stopped early: %s", done.outage)
        if done.outage or not (done.settled or done.resting):
            return


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
