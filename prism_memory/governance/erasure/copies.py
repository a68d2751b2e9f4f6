"""Remove the exports that may hold what an erasure removed.

A file is no row: it cannot go in a transaction. So an export goes before the last one,
and once more after it, for whoever began to write in between.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from prism_memory.governance.erasure.target import Target
from prism_memory.governance.export_removal import delete_run, exports_of, remove
from prism_memory.models import Run, Scope
from prism_memory.types import Actor

EXPORTS: Final = "exports"
"""Their name among the counts of a receipt, beside the tables'."""


def copies_of(*, using: str, target: Target, elsewhere: Iterable[str]) -> list[Run]:
    """Return the exports that may hold the target, or what derives from it.

    They are of its scope, of those above, of those below a scope, and of those where
    derived records were. One query, or two.

    Args:
        elsewhere: Ids of the scopes of derived records, and of those above these.
    """
    ids = {uuid.UUID(text) for text in (*target.scope_ids, *elsewhere)}
    root = target.scope if target.is_scope else None
    return exports_of(using=using, tenant=target.tenant, scope_ids=ids, root=root)


def remove_copy(*, using: str, run: Run, actor: Actor, hosted: bool) -> None:
    """Remove one export: now, or once the host's transaction is committed.

    Raises:
        Misconfigured: The storage failed. After a host's commit that is only logged.
    """
    if not hosted:
        remove(using=using, run=run, actor=actor, at=timezone.now())
        return
    given: dict[str, Any] = {"using": using, "tenant": run.tenant, "run_id": run.id}
    later = partial(delete_run, **given, actor=actor, at=timezone.now())
    transaction.on_commit(later, using=using, robust=True)


def elsewhere(
    *, using: str, target: Target, scope_ids: Iterable[uuid.UUID]
) -> frozenset[str]:
    """Return the ids of scopes that are no part of a target, and of those above them.

    One query, or none.
    """
    wanted = list(scope_ids)
    if not wanted:
        return frozenset()
    rows = Scope.objects.using(using).filter(tenant=target.tenant, id__in=wanted)
    if target.is_scope:
        rows = rows.exclude(target.by_names())
    places = (row.value for row in rows)
    return frozenset(str(level.id) for place in places for level in place.chain())
