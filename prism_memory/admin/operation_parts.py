"""What the page of operations is made of: tables of what waits, runs and failed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory import metrics
from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.parts import Section
from prism_memory.admin.runs import duration, progress
from prism_memory.admin.spaces import TONES
from prism_memory.admin.using import using
from prism_memory.metrics.state import MOST_COUNTED
from prism_memory.models import EmbeddingSpace, Reading, Review, Run, RunState
from prism_memory.models.choices import ReviewWhyChoice, SpaceState

MOST_ROWS: Final = 20
DAY: Final = dt.timedelta(days=1)
ERROR_CHARACTERS: Final = 200


@dataclass(frozen=True)
class Vectors:
    """A space as the page shows it.

    Args:
        retry: Where a button leads that tries again what failed, or empty.
    """

    name: object
    state: object
    index: object
    pending: str
    failed: object
    oldest: str
    retry: str


def vectors_of(
    request: HttpRequest,
    tenant: str,
    state: metrics.TenantState,
    spaces: list[metrics.SpaceHealth],
) -> list[Vectors]:
    """Return the spaces, with the queue of a tenant. No query."""
    queues = {queue.space_id: queue for queue in state.queues}
    may = request.user.has_perm("prism_memory.change_embeddingspace")
    found = []
    for space in spaces:
        queue = queues.get(space.id, metrics.Queue(space.id, 0, 0, 0.0))
        page = links.page(EmbeddingSpace, "change", str(space.id))
        wish = links.tenant_wish(tenant) if tenant else {}
        retry = links.page(EmbeddingSpace, "retry", str(space.id))
        found.append(
            Vectors(
                name=links.anchor(_at(page, wish), f"{space.alias} ({space.id})"),
                state=badge(SpaceState(space.state).label, TONES[space.state]),
                index=_health(space),
                pending=_most(queue.pending),
                failed=badge(_most(queue.failed), "bad") if queue.failed else "0",
                oldest=_age(queue.oldest_seconds) if queue.pending else NOTHING,
                retry=retry if may and tenant and queue.failed else "",
            )
        )
    return found


def _at(page: str, wish: dict[str, str]) -> str:
    """Return an address with a wish, which still knows whose rows are there."""
    address = links.Address(links.with_wish(page, wish))
    address.model = EmbeddingSpace
    return address


def _health(space: metrics.SpaceHealth) -> object:
    if not space.healthy:
        return badge(_("index lost or half made"), "bad")
    return badge(_("index ready"), "good") if space.index_bytes else badge(_("none"))


def running_section(tenant: str, now: dt.datetime) -> Section:
    """Return what is under way. One query."""
    rows = _runs(tenant).filter(state=RunState.RUNNING).order_by("-started_at")
    return Section(
        _("Under way"),
        [
            (
                links.anchor(links.row_page(run), run.kind),
                progress(run),
                moment(run.started_at),
                _age((now - run.heartbeat_at).total_seconds()),
            )
            for run in rows[:MOST_ROWS]
        ],
        headers=(_("Kind"), _("Progress"), _("Started"), _("Silent for")),
        empty=_("Nothing runs."),
        note=_("A run is cancelled and tried again on its own page."),
    )


def failed_section(tenant: str, now: dt.datetime) -> Section:
    """Return what failed within a day. One query."""
    rows = _runs(tenant).filter(state=RunState.FAILED, started_at__gt=now - DAY)
    return Section(
        _("Failed within a day"),
        [
            (
                links.anchor(links.row_page(run), run.kind),
                progress(run),
                moment(run.finished_at),
                shown(run.error[:ERROR_CHARACTERS]),
            )
            for run in rows.order_by("-started_at")[:MOST_ROWS]
        ],
        headers=(_("Kind"), _("Progress"), _("Ended"), _("Error")),
        empty=_("Nothing failed."),
    )


def _runs(tenant: str) -> QuerySet[Run, Run]:
    return Run.objects.using(using()).filter(tenant=tenant)


def people_section(
    request: HttpRequest, tenant: str, state: metrics.TenantState
) -> list[Section]:
    """Return what waits for a person, if the viewer may see that. No query."""
    if not links.may_view(request.user, Review):
        return []
    waiting = {one.why: one for one in state.reviews}
    rows = []
    for why, label in ReviewWhyChoice.choices:
        one = waiting.get(why)
        wish = {**links.tenant_wish(tenant), "why": why}
        rows.append(
            (
                links.anchor(links.list_page(Review, **wish), label),
                _most(one.waiting) if one else "0",
                _age(one.oldest_seconds) if one else NOTHING,
            )
        )
    headers = (_("Reason"), _("Waiting"), _("The oldest, for"))
    return [Section(_("What waits for a person"), rows, headers=headers)]


def worst_section(points: list[metrics.Point]) -> Section:
    """Return the tenants with the most to do, as they were read last. No query."""
    last = points[-1].worst if points else ()
    return Section(
        _("Tenants with the most to do"),
        [
            (
                links.anchor(links.list_page(Reading, tenant=name), name),
                *(
                    number(int(counts.get(key, 0)))
                    for key in ("failed", "pending", "failed_runs", "reviews")
                ),
            )
            for name, counts in last
        ],
        headers=(
            *(_("Tenant"), _("Given up"), _("Waiting"), _("Failed runs")),
            _("For people"),
        ),
        empty=_("Nothing waits anywhere, as far as was read."),
    )


def sizes_section() -> Section:
    """Return how large the large tables are. One query."""
    return Section(
        _("Tables"),
        [
            (shown(size.name), number(size.rows), _megabytes(size.bytes))
            for size in metrics.sizes(using=using())
        ],
        headers=(_("Table"), _("Rows, about"), _("With indexes")),
        note=_("Rows are PostgreSQL's own estimate; nothing is counted."),
    )


def _megabytes(size: int) -> str:
    return f"{size / 1_048_576:,.1f} MB"


def _most(count: int) -> str:
    """Return a count; one that was stopped is ``100,000+``."""
    return number(count, most=MOST_COUNTED - 1)


def _age(seconds: float) -> Any:  # noqa: ANN401 - a cell
    return duration(dt.timedelta(seconds=seconds))
