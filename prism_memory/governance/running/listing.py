"""The runs that were, and those under way."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Final

from prism_memory import runs
from prism_memory.db.tenancy import for_tenant
from prism_memory.errors import NotVisible, ScopeDenied
from prism_memory.models import Run
from prism_memory.models.choices import RunState
from prism_memory.recall import cursors
from prism_memory.types import RunPage, RunStatus, Scope, check_choice, check_text

ORDER: Final = "runs"


@for_tenant
def list_runs(
    *,
    using: str,
    scope: Scope,
    rows: int,
    cursor: str | None = None,
    kind: str | None = None,
    state: str | None = None,
) -> RunPage:
    """Return the tenant's runs, the newest first. One query.

    Args:
        rows: Of the page.
        kind: Only of this kind, exactly.
        state: Only in this state.

    Raises:
        ScopeDenied: The scope is below the tenant.
        Invalid: The cursor is none of this list, or there is no such state.
    """
    require_tenant(scope)
    found = Run.objects.using(using).filter(tenant=scope.tenant)
    if kind is not None:
        found = found.filter(kind=check_text(kind, "kind"))
    if state is not None:
        found = found.filter(state=check_choice(state, RunState, "state"))
    if cursor is not None:
        (last,) = cursors.read(cursor, ORDER, values=1)
        found = found.filter(id__lt=_id(last))
    page = list(found.order_by("-id")[: rows + 1])
    items = tuple(map(status, page[:rows]))
    more = len(page) > rows
    return RunPage(items, cursors.write(ORDER, str(items[-1].id)) if more else None)


@for_tenant
def get_run(*, using: str, scope: Scope, run_id: uuid.UUID) -> RunStatus:
    """Return one of the tenant's runs. One query.

    Raises:
        ScopeDenied: The scope is below the tenant.
        NotVisible: The tenant has no such run.
    """
    require_tenant(scope)
    rows = Run.objects.using(using).filter(tenant=scope.tenant, id=run_id)
    run = rows.first()
    if run is None:
        raise NotVisible
    return status(run)


def status(run: Run) -> RunStatus:
    """Return a run as its tenant sees it."""
    return RunStatus(
        id=run.id,
        kind=run.kind,
        target=run.target,
        state=str(run.state),
        actor=run.actor,
        counts={k: n for k, n in run.counts.items() if isinstance(n, int)},
        percent=runs.percent(run),
        per_second=runs.per_second(run),
        attempts=run.attempts,
        error=run.error,
        next_try_at=run.next_try_at,
        started_at=run.started_at,
        heartbeat_at=run.heartbeat_at,
        finished_at=run.finished_at,
    )


def require_tenant(scope: Scope) -> None:
    """Refuse who is bound below the tenant.

    Raises:
        ScopeDenied: The scope is below the tenant.
    """
    if scope.owner:
        message = "Runs are the tenant's; this scope is below it."
        raise ScopeDenied(message, field="scope")


def moment_and_id(values: list[object]) -> tuple[dt.datetime, uuid.UUID]:
    """Return the time and the id that a cursor holds.

    Raises:
        Invalid: They are none.
    """
    try:
        return dt.datetime.fromisoformat(str(values[0])), _id(values[1])
    except ValueError:
        raise cursors.unknown() from None


def _id(text: object) -> uuid.UUID:
    try:
        return uuid.UUID(str(text))
    except ValueError:
        raise cursors.unknown() from None
