"""The queue of conflicts: put to a judge, settled as it says, or given back.

The database is the queue. Taking and giving back are short transactions; the judge is
asked between them, and what it says is checked against what stands then.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils import timezone

from prism_memory import access
from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import (
    Conflict,
    NotVisible,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.facts.settle import Changed, settle
from prism_memory.indexing import back_off_seconds
from prism_memory.integrity import intact
from prism_memory.models import Fact
from prism_memory.types import (
    Actor,
    Kind,
    ReadMode,
    Ruling,
    Scope,
    Verdict,
)

Rule = Callable[[str, Sequence[str]], Ruling]
"""Says what becomes of a claim beside its neighbours, the nearest first."""

BATCH: Final = 10
"""Conflicts of one claim: few, since a judge takes its time over each."""

AT_ONCE: Final = 0.0


@dataclass(frozen=True)
class Waiting:
    """A conflict that this worker holds for a while."""

    id: uuid.UUID
    scope: Scope
    fact_id: uuid.UUID
    others: tuple[uuid.UUID, ...]
    attempts: int
    claimed_until: dt.datetime


@dataclass(frozen=True)
class Judged:
    """What a round over a tenant's queue did.

    Args:
        asked: How often the judge was asked.
        settled: Conflicts that are over.
        resting: Those that wait on: for a later try, or a person.
        outage: Why the judge gave no answer, or ``""``.
        is_down: It was out of reach, and was not asked again.
    """

    asked: int = 0
    settled: int = 0
    resting: int = 0
    outage: str = ""
    is_down: bool = False

    def __add__(self, other: Judged) -> Judged:
        return Judged(
            self.asked + other.asked,
            self.settled + other.settled,
            self.resting + other.resting,
            other.outage or self.outage,
            self.is_down or other.is_down,
        )


@dataclass(frozen=True)
class Texts:
    """What a judge may see of a conflict.

    Args:
        claim: The new claim; None where it may not be seen.
        others: Its neighbours, in their order.
        versions: Of each record.
        is_over: The claim, or all that it met, is open no more.
    """

    claim: str | None
    others: Mapping[uuid.UUID, str] = field(default_factory=dict)
    versions: Mapping[uuid.UUID, int] = field(default_factory=dict)
    is_over: bool = False


@for_tenant
def judge_conflicts(*, using: str, tenant: str, actor: Actor, rule: Rule) -> Judged:
    """Put a batch of conflicts that are due to a judge, one after the other.

    Calls the judge, so it must not run inside a transaction.
    """
    done = Judged()
    for waiting in claim(using=using, tenant=tenant, rows=BATCH):
        if done.is_down:  # nobody waits for it again and again
            done += put_back(using, waiting, back_off_seconds(waiting.attempts))
        else:
            done += _judge(using, waiting, actor, rule)
    return done


def claim(*, using: str, tenant: str, rows: int) -> list[Waiting]:
    """Take up to ``rows`` conflicts that are due. One query."""
    given = {"tenant": tenant, "rows": rows, "claim_seconds": settings.CLAIM_SECONDS}
    found = queries.fetch(using, named("conflicts")["claim"], given)
    return [
        Waiting(
            id=row["id"],
            scope=Scope(
                tenant, owner=row["owner"], agent=row["agent"], thread=row["thread"]
            ),
            fact_id=row["fact_id"],
            others=tuple(row["others"]),
            attempts=row["attempts"],
            claimed_until=row["next_try_at"],
        )
        for row in found
    ]


def put_back(using: str, waiting: Waiting, seconds: float | None) -> Judged:
    """Let a conflict rest so long; for a person alone when None. One query."""
    given = {
        "tenant": waiting.scope.tenant,
        "decision_id": waiting.id,
        "claimed_until": waiting.claimed_until,
        "seconds": seconds,
    }
    queries.execute(using, named("conflicts")["put_back"], given)
    return Judged(resting=1)


def _judge(using: str, waiting: Waiting, actor: Actor, rule: Rule) -> Judged:
    texts = read_texts(using, waiting)
    if texts.is_over:
        return _settled(using, waiting, actor, Ruling(Verdict.ADMIT), texts)
    later = back_off_seconds(waiting.attempts)
    if texts.claim is None or not texts.others:
        return put_back(using, waiting, later)
    try:
        ruling = rule(texts.claim, list(texts.others.values()))
    except (ProviderUnavailable, ProviderRejected) as error:
        # Rests as long as its own tries ask for: one that cannot be read does not hold
        # up the others.
        is_down = isinstance(error, ProviderUnavailable)
        told = Judged(asked=1, outage=str(error), is_down=is_down)
        return put_back(using, waiting, later) + told
    if ruling.verdict is Verdict.PENDING:
        return put_back(using, waiting, None) + Judged(asked=1)
    return _settled(using, waiting, actor, ruling, texts) + Judged(asked=1)


def _settled(
    using: str, waiting: Waiting, actor: Actor, ruling: Ruling, texts: Texts
) -> Judged:
    which = ruling.neighbour
    try:
        settle(
            using=using,
            scope=waiting.scope,
            actor=actor,
            decision_id=waiting.id,
            verdict=ruling.verdict,
            other=None if which is None else list(texts.others)[which],
            versions=None if texts.is_over else texts.versions,
            at=timezone.now(),
        )
    except Changed:
        return put_back(using, waiting, AT_ONCE)
    except (Conflict, NotVisible):
        # Settled or erased meanwhile, or what a person has to look at.
        return put_back(using, waiting, None)
    return Judged(settled=1)


def read_texts(using: str, waiting: Waiting) -> Texts:
    """Return what a judge may see of a conflict, as it stands now. Three queries."""
    ids = (waiting.fact_id, *waiting.others)
    there = set(_open(using, waiting.scope, ids))
    if waiting.fact_id not in there or there == {waiting.fact_id}:
        return Texts(None, is_over=True)
    reader = Reader(
        waiting.scope,
        mode=ReadMode.EXACT,
        strict=access.strictness(),
        kinds=[Kind.FACT],
        include_superseded=True,
        include_quarantined=True,
    )
    rows = access.visible(using=using, reader=reader).filter(id__in=there)
    seen = {
        fact_id: (version, text)
        for fact_id, version, text in rows.values_list("id", "version", "text")
    }
    whole = intact(using=using, tenant=waiting.scope.tenant, shown=seen)
    shown = {one: seen[one] for one in ids if one in whole and one in seen}
    claim = shown.get(waiting.fact_id)
    return Texts(
        claim=None if claim is None else claim[1],
        others={one: shown[one][1] for one in waiting.others if one in shown},
        versions={one: version for one, (version, _) in shown.items()},
    )


def _open(using: str, scope: Scope, ids: Sequence[uuid.UUID]) -> list[Any]:
    rows = Fact.objects.using(using).filter(
        tenant=scope.tenant,
        scope_id=scope.id,
        id__in=ids,
        closed_at=None,
        archived_at=None,
    )
    return list(rows.values_list("id", flat=True))
