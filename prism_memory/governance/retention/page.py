"""One page of a sweep: a transaction that is done as a whole, or not at all."""

from __future__ import annotations

import datetime as dt
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django.utils import timezone

from prism_memory import audit, runs
from prism_memory.errors import Conflict
from prism_memory.governance.retention.due import (
    BATCH,
    Due,
    Gone,
    ask,
    parameters,
    patiently,
    remove_due,
)
from prism_memory.governance.retention.policies import rules_of
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.models import RetentionPolicy, Run
from prism_memory.types import MAX, NIL, Actor

SCOPES: Final = 100
"""Scopes that one query looks at."""


@dataclass(frozen=True, order=True)
class Place:
    """How far a sweep is: after a record; after all of a scope where none is named."""

    scope: uuid.UUID
    sequence: int = 2**63 - 1
    id: uuid.UUID = MAX

    @classmethod
    def of(cls, cursor: Mapping[str, Any]) -> Place:
        """Return the place in a run's cursor; the first where it has none."""
        if "scope" not in cursor:
            return cls(NIL)
        scope, record_id = uuid.UUID(cursor["scope"]), uuid.UUID(cursor["id"])
        return cls(scope, cursor["sequence"], record_id)

    def as_cursor(self) -> dict[str, Any]:
        """Return it as a run keeps it."""
        return {
            "scope": str(self.scope),
            "sequence": self.sequence,
            "id": str(self.id),
        }


class PolicyChanged(Conflict):
    """The policy was changed, switched off or taken away meanwhile."""


@dataclass(frozen=True)
class Work:
    """One sweep under way.

    Args:
        end: When to stop, by ``time.monotonic``; None: when all is done.
        reason: Why, where a person asked for it.
    """

    using: str
    policy: RetentionPolicy
    run: Run
    actor: Actor
    batch: int
    end: float | None
    reason: str = ""

    @property
    def began_at(self) -> dt.datetime:
        """The moment that the rules are judged by, however long it takes."""
        return dt.datetime.fromisoformat(self.run.cursor["at"])

    @property
    def is_late(self) -> bool:
        return self.end is not None and time.monotonic() >= self.end


def do_page(work: Work) -> bool:
    """Do the next page; return whether it was the last."""
    place = Place.of(work.run.cursor)
    given = parameters(rules_of(work.policy), work.policy.tenant, work.began_at)
    given |= {**vars(place), "scopes": SCOPES, "rows": min(work.batch, BATCH)}
    scopes = [row["id"] for row in ask(work.using, "scopes", given)]
    found = ask(work.using, "due", given | {"scope_ids": scopes}) if scopes else []
    full = len(found) == given["rows"]
    if full:
        last = found[-1]
        after = Place(last["scope_id"], last["sequence"], last["id"])
    else:
        after = Place(scopes[-1] if scopes else MAX)
    passed = sum(place < Place(scope) <= after for scope in scopes)
    counts = {"deleted": 0, "kept": 0, "scopes": 0, **work.run.counts}
    counts["scopes"] += passed
    due = Due(
        [row["id"] for row in found],
        [row["sequence"] for row in found],
        [row["over"] for row in found],
    )
    patiently(work.using, partial(_step, work, given, due, after, counts))
    return not full and len(scopes) < SCOPES


def _step(
    work: Work, given: dict[str, Any], due: Due, after: Place, counts: dict[str, int]
) -> None:
    at = timezone.now()
    own: dict[str, Any] = {"using": work.using, "actor": work.actor, "at": at}
    tenant = work.policy.tenant
    if due:
        hold_lineage(using=work.using, tenant=tenant, alone=True)
    _require_unchanged(work)
    gone = remove_due(given=given, due=due, **own) if due else Gone()
    runs.advance(
        work.run,
        using=work.using,
        cursor=after.as_cursor() | {"at": work.run.cursor["at"]},
        counts=counts
        | {
            "deleted": counts["deleted"] + gone.deleted,
            "kept": counts["kept"] + gone.kept,
        },
        at=at,
    )
    if gone.deleted:
        audit.record(
            tenant=tenant,
            action="retention.sweep",
            target=f"policy:{work.policy.id}",
            reason=work.reason,
            detail=vars(gone) | {"run": str(work.run.id)},
            **own,
        )


def _require_unchanged(work: Work) -> None:
    """Keep the policy as it is until this step ends: who switches it off waits.

    Raises:
        PolicyChanged: It is not what this sweep began with.
    """
    policy = work.policy
    rows = RetentionPolicy.objects.using(work.using).select_for_update(no_key=True)
    same = rows.filter(
        tenant=policy.tenant,
        id=policy.id,
        enabled=True,
        changed_at=policy.changed_at,
    )
    if same.first() is None:
        raise PolicyChanged
