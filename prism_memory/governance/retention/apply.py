"""Apply limits of age and number to one scope (B185 to B190)."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from functools import partial
from typing import Any

from prism_memory import audit
from prism_memory.db.tenancy import for_tenant
from prism_memory.governance.retention.due import (
    BATCH,
    Due,
    Gone,
    ask,
    parameters,
    patiently,
    remove_due,
)
from prism_memory.lifecycle.tombstones import hold_lineage
from prism_memory.types import Actor, Retained, Rules, Scope


@for_tenant
def apply_retention(
    *,
    using: str,
    scope: Scope,
    actor: Actor,
    rules: Rules,
    batch_size: int,
    at: dt.datetime,
    dry_run: bool = False,
) -> Retained:
    """Delete what is due of exactly ``scope``, one batch at most.

    The oldest that are over their time go first, then, up to the rest of the batch, the
    lowest sequences of what is then too much. Reads the scope once for each rule; a
    batch over 1,000 is done in several transactions.

    Args:
        batch_size: Records to delete.
        dry_run: Change nothing, and tell what would go.

    Raises:
        Conflict: Others keep the rows locked.
        Unsupported: In a host's transaction that is not READ COMMITTED.
    """
    given = parameters(rules, scope.tenant, at) | {"scope_id": scope.id}
    given["began_at"] = None  # one batch: it ends by itself
    due, kept = _find(using, given, batch_size)
    deleted = len(due)
    if not dry_run:
        steps = [due[start : start + BATCH] for start in range(0, len(due), BATCH)]
        removed = [
            patiently(using, partial(_step, using, scope, actor, given, some))
            for some in steps
        ]
        deleted = sum(gone.deleted for gone in removed)
        kept += sum(gone.kept for gone in removed)
    return Retained(deleted=deleted, scanned=deleted + kept, kept=kept)


def _find(using: str, given: Mapping[str, Any], rows: int) -> tuple[Due, int]:
    """Return what may go, and how many a hold keeps."""
    none: dict[str, Any] = {"ids": [], "sequences": [], "kept": 0}
    old = over = none
    if given["before"] is not None or given["expired"]:
        (old,) = ask(using, "oldest", {**given, "rows": rows})
    left = rows - len(old["ids"])
    if given["max_entries"] is not None and left:
        (over,) = ask(using, "lowest", {**given, "rows": left, "gone": old["ids"]})
    due = Due(
        ids=[uuid.UUID(i) for i in (*old["ids"], *over["ids"])],
        sequences=[*old["sequences"], *over["sequences"]],
        overs=[False] * len(old["ids"]) + [True] * len(over["ids"]),
    )
    return due, old["kept"] + over["kept"]


def _step(
    using: str, scope: Scope, actor: Actor, given: Mapping[str, Any], due: Due
) -> Gone:
    hold_lineage(using=using, tenant=scope.tenant, alone=True)
    at = given["at"]
    gone = remove_due(using=using, given=given, due=due, actor=actor, at=at)
    if gone.deleted:
        audit.record(
            using=using,
            tenant=scope.tenant,
            actor=actor,
            action="retention.apply",
            target=f"scope:{scope.id}",
            at=at,
            detail=vars(gone),
        )
    return gone
