"""Look for files of exports that may hold what was erased, and for words in them."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Iterable, Sequence
from contextlib import closing

from django.db.models import Max

from prism_memory.governance import export_files as files
from prism_memory.governance.erasure.state import KIND
from prism_memory.governance.erasure.target import Target
from prism_memory.governance.export_state import KIND as EXPORT
from prism_memory.governance.export_state import Position, scope_of
from prism_memory.models import ErasureReceipt, Run, Scope


def count_files(*, using: str, target: Target) -> int:
    """Count the files of exports that may hold a target.

    What an export wrote that began after the erasure holds nothing of it.

    Raises:
        Misconfigured: The storage failed.
    """
    runs = _exports(using, target.tenant)
    ids = {scope_of(run) for run in runs}
    rows = Scope.objects.using(using).filter(tenant=target.tenant, id__in=ids)
    there = {row.id: row.value for row in rows}
    above = {
        uuid.UUID(text) for text in (*target.scope_ids, *_elsewhere(using, target))
    }
    end = _last_end(using, target)

    def may_hold(run: Run) -> bool:
        place = there.get(scope_of(run))
        if place is None:  # it was erased, and what was below the target is not known
            return True
        below = target.is_scope and target.scope.opens(place)
        return (below or place.id in above) and (end is None or run.started_at <= end)

    return sum(len(_names(run)) for run in runs if may_hold(run))


def count_files_with(*, using: str, tenant: str, words: Sequence[str]) -> int:
    """Count the files of a tenant's exports that hold one of the words.

    Raises:
        Misconfigured: The storage failed.
    """
    # In JSON a word stands with its quotes and backslashes escaped.
    escaped = {json.dumps(word, ensure_ascii=False)[1:-1] for word in words}
    wanted = [text.encode() for text in {*words, *escaped}]
    names = (name for run in _exports(using, tenant) for name in _names(run))
    return sum(_holds(name, wanted) for name in names)


def _holds(name: str, wanted: Iterable[bytes]) -> bool:
    with closing(files.lines(name)) as lines:
        return any(word in line for line in lines for word in wanted)


def _exports(using: str, tenant: str) -> list[Run]:
    """Return all exports, also those whose files should be gone."""
    return list(Run.objects.using(using).filter(tenant=tenant, kind=EXPORT))


def _names(run: Run) -> list[str]:
    at = Position.of(run)
    known = (*(part.name for part in at.parts), at.pending, run.cursor.get("manifest"))
    return files.listed(run.id, *filter(None, known))


def _elsewhere(using: str, target: Target) -> set[str]:
    """Return the scopes where what derived from the target was, as far as is known."""
    rows = Run.objects.using(using).filter(
        tenant=target.tenant, kind=KIND, target=target.ref
    )
    return {text for run in rows for text in run.cursor.get("elsewhere", ())}


def _last_end(using: str, target: Target) -> dt.datetime | None:
    """Return when the target, or a scope that holds it, was erased last."""
    refs = [target.ref, *(f"scope:{text}" for text in target.scope_ids)]
    rows = ErasureReceipt.objects.using(using).filter(
        tenant=target.tenant, target_ref__in=refs, found=True
    )
    end: dt.datetime | None = rows.aggregate(end=Max("finished_at"))["end"]
    return end
