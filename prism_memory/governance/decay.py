"""Put aside facts that fade, and what is over a scope's capacity. Nothing is deleted.

Off until the settings say otherwise. A run goes scope by scope; a batch is one
transaction with its audit and how far the run is, so who is killed in between goes on
from there.
"""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Any, Final, Literal

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from prism_memory import access, audit, runs
from prism_memory.conf import settings
from prism_memory.db import queries
from prism_memory.db.queries import composed, named
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import Conflict
from prism_memory.facts.salience import (
    FOREIGN,
    Standing,
    check_weights,
    retention,
    salience,
)
from prism_memory.integrity import carried
from prism_memory.lifecycle.removal import lock_records
from prism_memory.lifecycle.reviews import lapse_reviews
from prism_memory.models import Fact, Record, Run
from prism_memory.models.choices import GateState, RunState
from prism_memory.types import NIL, Actor

KIND: Final = "decay"
TARGET: Final = "facts"
BATCH: Final = 200
"""Facts that one transaction puts aside, and that one query looks at."""

NO_CAPACITY: Final = -1

Ended = Literal["off", "done", "unfinished", "elsewhere"]


@dataclass(frozen=True)
class Rules:
    """What fades, and how much one scope holds.

    Args:
        below: Put aside what is retained less, 0..1; 0 is never (B427).
        tau_days: How slowly facts fade.
        capacity: Open facts of a scope; -1 for any number, 0 keeps none (B428).
        weights: Of salience.
    """

    below: float
    tau_days: float
    capacity: int
    weights: dict[str, float]

    @classmethod
    def configured(cls) -> Rules:
        """Return those of the settings."""
        return cls(
            below=settings.DECAY_BELOW,
            tau_days=settings.DECAY_DAYS,
            capacity=settings.FACT_CAPACITY,
            weights=check_weights(settings.SALIENCE),
        )

    @property
    def are_off(self) -> bool:
        """Whether nothing would ever be put aside."""
        return self.below <= 0 and self.capacity == NO_CAPACITY


@dataclass(frozen=True)
class Decayed:
    """What a run over one tenant did.

    Args:
        counts: ``faded``, ``evicted``, ``kept`` by holds, and ``scopes`` looked at.
    """

    tenant: str
    ended: Ended
    counts: dict[str, int] = field(default_factory=dict)


@dataclass
class Pass:
    """One run at work.

    Args:
        kept: Facts of the scope at hand that faded, and that a hold keeps.
    """

    using: str
    run: Run
    actor: Actor
    rules: Rules
    at: dt.datetime
    end: float | None
    kept: int = 0

    @property
    def is_late(self) -> bool:
        """Whether its time is over."""
        return self.end is not None and time.monotonic() >= self.end


@for_tenant
def decay(
    *,
    using: str,
    tenant: str,
    actor: Actor,
    rules: Rules | None = None,
    max_seconds: float | None = None,
) -> Decayed:
    """Put aside what fades of one tenant's facts, and what is over the capacity.

    Least salient first, ties by id (B428). Holds keep facts where they are. One that
    was cut goes on where it stopped; ``memory.facts.unarchive`` takes a fact back.

    Args:
        rules: Those of the settings when None.
        max_seconds: After it, no further batch is begun.
    """
    rules = rules or Rules.configured()
    if rules.are_off:
        return Decayed(tenant, "off")
    end = None if max_seconds is None else time.monotonic() + max_seconds
    at = timezone.now()
    try:
        run = runs.begin(
            using=using, tenant=tenant, kind=KIND, target=TARGET, actor=actor, at=at
        )
        with runs.failing(run, using=using):
            ended = fade_scopes(Pass(using, run, actor, rules, at, end))
    except Conflict:  # another process began it, or took it up
        return Decayed(tenant, "elsewhere")
    return Decayed(tenant, ended, dict(run.counts))


def fade_scopes(work: Pass) -> Ended:
    """Look at scope after scope, until all are done or the time is over."""
    after = uuid.UUID(work.run.cursor.get("scope", str(NIL)))
    while (scope_id := _next_scope(work, after)) is not None:
        if work.is_late or not _scope(work, scope_id):
            return "unfinished"
        counts = Counter(work.run.counts) + Counter(scopes=1, kept=work.kept)
        _advance(work, {"scope": str(scope_id)}, counts)
        after = scope_id
    runs.advance(
        work.run, using=work.using, cursor={}, counts=work.run.counts, at=timezone.now()
    )
    runs.finish(work.run, using=work.using, state=RunState.DONE, at=timezone.now())
    return "done"


def _scope(work: Pass, scope_id: uuid.UUID) -> bool:
    """Look at one scope; tell whether it is done."""
    faded, work.kept = list[uuid.UUID](), 0
    for fact_id, one, held in _standings(work, scope_id):
        if retention(one, tau_days=work.rules.tau_days) < work.rules.below:
            work.kept += held
            faded += [] if held else [fact_id]
    if not _aside(work, scope_id, faded, "faded"):
        return False
    over = _over(work, scope_id)
    return over <= 0 or _aside(work, scope_id, _least(work, scope_id, over), "evicted")


def _over(work: Pass, scope_id: uuid.UUID) -> int:
    """Return how many facts a scope has beyond what it holds."""
    if work.rules.capacity == NO_CAPACITY:
        return 0
    rows = Fact.objects.using(work.using).filter(
        tenant=work.run.tenant, scope_id=scope_id, closed_at=None, archived_at=None
    )
    return rows.count() - work.rules.capacity


def _least(work: Pass, scope_id: uuid.UUID, number: int) -> list[uuid.UUID]:
    """Return the least salient that no hold keeps; ties by id."""
    rules = work.rules
    ranked = (
        (salience(one, tau_days=rules.tau_days, weights=rules.weights), fact_id)
        for fact_id, one, held in _standings(work, scope_id)
        if not held
    )
    return [fact_id for _, fact_id in nsmallest(number, ranked)]


def _standings(
    work: Pass, scope_id: uuid.UUID
) -> Iterator[tuple[uuid.UUID, Standing, bool]]:
    """Yield each open fact of a scope, and whether a hold keeps it."""
    statement = composed("facts", "standings", held=access.held())
    given = {"tenant": work.run.tenant, "scope_id": scope_id, "at": work.at}
    after = NIL
    while True:
        page = queries.fetch(
            work.using, statement, {**given, "after": after, "rows": BATCH}
        )
        yield from ((row["id"], _standing(row), row["held"]) for row in page)
        if len(page) < BATCH:
            return
        after = page[-1]["id"]


def _standing(row: dict[str, Any]) -> Standing:
    return Standing(
        days=float(row["days"]),
        strength=row["strength"],
        recalls=row["recalls"],
        importance=row["importance"],
        quarantined=row["gate"] != GateState.OPEN,
        foreign=row["provenance"] in FOREIGN,
    )


def _aside(work: Pass, scope_id: uuid.UUID, ids: Sequence[uuid.UUID], why: str) -> bool:
    """Put facts aside, batch by batch; tell whether the time was enough."""
    for some in (ids[i : i + BATCH] for i in range(0, len(ids), BATCH)):
        if work.is_late:
            return False
        with transaction.atomic(using=work.using):
            gone = _archive(work, some)
            if gone:
                _record(work, scope_id, why, gone)
            counts = Counter(work.run.counts) + Counter({why: len(gone)})
            _advance(work, work.run.cursor, counts)
    return True


def _archive(work: Pass, ids: Sequence[uuid.UUID]) -> list[uuid.UUID]:
    """Return what was put aside. Inside a transaction."""
    given: dict[str, Any] = {"using": work.using, "tenant": work.run.tenant}
    locked = lock_records(**given, ids=ids)
    free = [record_id for record_id, held in locked.items() if not held]
    facts = Fact.objects.using(work.using).filter(
        tenant=work.run.tenant,
        id__in=free,
        closed_at=None,
        archived_at=None,
    )
    going = list(
        facts.order_by("id")
        .select_for_update(of=("self",))
        .values_list("id", flat=True)
    )
    records = Record.objects.using(work.using).filter(
        tenant=work.run.tenant, id__in=going
    )
    now = timezone.now()
    with carried(**given, record_ids=going):
        records.update(retired_at=now, changed_at=now, version=F("version") + 1)
    facts.filter(id__in=going).update(archived_at=now)
    # As who archives one: nobody is asked about what is put aside.
    lapse_reviews(**given, record_ids=going, actor=work.actor, at=now)
    return going


def _record(
    work: Pass, scope_id: uuid.UUID, why: str, ids: Sequence[uuid.UUID]
) -> None:
    audit.record(
        using=work.using,
        tenant=work.run.tenant,
        actor=work.actor,
        action="fact.decay",
        target=f"scope:{scope_id}",
        at=timezone.now(),
        detail={
            "archived": len(ids),
            "facts": [str(fact_id) for fact_id in ids],
            "why": why,
            "run": str(work.run.id),
        },
    )


def _advance(work: Pass, cursor: dict[str, Any], counts: Counter[str]) -> None:
    runs.advance(
        work.run, using=work.using, cursor=cursor, counts=counts, at=timezone.now()
    )


def _next_scope(work: Pass, after: uuid.UUID) -> uuid.UUID | None:
    given = {"tenant": work.run.tenant, "after": after}
    rows = queries.fetch(work.using, named("facts")["next_scope"], given)
    return rows[0]["scope_id"] if rows else None
