"""What rules of retention ask for: find the records that are due, and remove them.

Found without a lock, so that nobody waits for a search; judged again once they are
locked. Only what is due goes. What is derived from it is blocked, and stays until its
own time is over.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from django.db import OperationalError, connections
from psycopg import sql
from psycopg.errors import DeadlockDetected, LockNotAvailable

from prism_memory import access
from prism_memory.db import queries
from prism_memory.db.local import local_settings
from prism_memory.db.queries import composed, named
from prism_memory.errors import Conflict
from prism_memory.lifecycle.removal import remove
from prism_memory.types import Actor, Rules, TombstoneReason

T = TypeVar("T")

BATCH: Final = 1_000
"""Most records of one transaction."""

LOCK_TIMEOUT: Final = "5s"
TRIES: Final = 5


@dataclass(frozen=True)
class Due:
    """Records that are due, as they were when they were found.

    Args:
        sequences: Theirs, in the same order.
        overs: Whether each is one too many, whatever its age.
    """

    ids: Sequence[uuid.UUID] = ()
    sequences: Sequence[int] = ()
    overs: Sequence[bool] = ()

    def __getitem__(self, some: slice) -> Due:
        return Due(self.ids[some], self.sequences[some], self.overs[some])

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Gone:
    """What one batch did.

    Args:
        deleted: Records that went.
        kept: Records that a hold keeps.
        blocked: Refs that a tombstone was put on.
    """

    deleted: int = 0
    kept: int = 0
    blocked: int = 0


def parameters(rules: Rules, tenant: str, at: dt.datetime) -> dict[str, Any]:
    """Return the rules as the statements take them, judged at a moment.

    What came after it is left alone, unless ``began_at`` is taken away.
    """
    return {
        "tenant": tenant,
        "level": None if rules.level is None else rules.level.value,
        "kinds": [kind.value for kind in rules.kinds],
        "tier": None if rules.tier is None else rules.tier.value,
        "before": rules.before(at),
        "max_entries": rules.max_entries,
        "expired": rules.expired,
        "at": at,
        "began_at": at,
    }


def ask(using: str, name: str, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Run a statement of retention. One query."""
    parts = {part: sql.SQL(named("retention")[part]) for part in ("chosen", "old")}
    statement = composed("retention", name, held=access.held(), **parts)
    return queries.fetch(using, statement, given)


def remove_due(
    *,
    using: str,
    given: Mapping[str, Any],
    due: Due,
    actor: Actor,
    at: dt.datetime,
) -> Gone:
    """Remove those of the records that are due still and that no hold keeps.

    Call it in a transaction that has the tenant's lineage to itself.

    Args:
        given: The rules, by ``parameters``.
        at: Moment of the removal, which may be later than that of the rules.
    """
    found = ask(using, "lock_due", {**given, **vars(due)})
    if not found:
        return Gone()
    removed = remove(
        using=using,
        tenant=given["tenant"],
        ids=[row["id"] for row in found],
        reason=TombstoneReason.EXPIRED,
        actor=actor,
        at=at,
        capped=False,
        dependents=False,
        batch=BATCH,
    )
    return Gone(len(removed.records), len(removed.kept), len(removed.blocked))


def patiently(using: str, step: Callable[[], T]) -> T:
    """Return what a step returned, done in one transaction; again if others were first.

    A step holds up all who derive, so it never waits long for a lock that they may
    hold. In a host's transaction it is tried once: what that has locked stays locked.

    Raises:
        Conflict: Others held the rows each time. Nothing of this step was done.
    """
    hosted = connections[using].in_atomic_block
    for left in reversed(range(1 if hosted else TRIES)):
        try:
            with local_settings(using, {"lock_timeout": LOCK_TIMEOUT}):
                return step()
        except OperationalError as error:
            if not isinstance(error.__cause__, (DeadlockDetected, LockNotAvailable)):
                raise
            if not left:
                message = "Others keep the rows locked; what is due goes next time."
                raise Conflict(message) from error
    raise AssertionError  # pragma: no cover - the last try returns or raises
