"""Long work, and how far it is."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _

from prism_memory import runs
from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, Tone, badges, moment
from prism_memory.admin.characters import shown
from prism_memory.admin.counted import counted, named
from prism_memory.admin.exports import delete_view, run_sections, run_tools
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section, Tool
from prism_memory.admin.refs import looked_up
from prism_memory.admin.running import act_tools, cancel_view, retry_view
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.governance.erasure.state import KIND
from prism_memory.models import ErasureReceipt, Run, RunState

TONES: dict[str, Tone] = {
    RunState.RUNNING: "warn",
    RunState.DONE: "good",
    RunState.FAILED: "bad",
    RunState.CANCELLED: "quiet",
}


class RunFilter(FilterForm):
    kind = ExactNameField(label=_("Kind, exactly"))
    target = ExactNameField(label=_("Target, exactly"))
    state = choice(_("State"), RunState.choices)
    exact = {"kind": "kind", "target": "target", "state": "state"}


@admin.register(Run)
class RunsAdmin(TenantAdmin):
    """Newest first."""

    installation = True
    order = Order(("id",), descending=True)
    filters = RunFilter
    list_display = ("what", "aim", "states", "progress", "started", "took", "failure")
    empty = _("No run here yet.")
    intro = _("Imports, index builds and other work that takes a while.")

    @admin.display(description=_("Kind"))
    def what(self, row: Run) -> object:
        return links.anchor(links.row_page(row), row.kind)

    @admin.display(description=_("Target"))
    def aim(self, row: Run) -> object:
        return links.ref_link(row.tenant, row.target) if row.target else ""

    @admin.display(description=_("State"))
    def states(self, row: Run) -> object:
        state: list[tuple[Any, Tone]] = [(row.get_state_display(), TONES[row.state])]
        if runs.is_silent(row, timezone.now()):
            state.append((_("no sign of life"), "bad"))
        return badges(state)

    @admin.display(description=_("Progress"))
    def progress(self, row: Run) -> object:
        return progress(row)

    @admin.display(description=_("Started"))
    def started(self, row: Run) -> object:
        return moment(row.started_at)

    @admin.display(description=_("Took"))
    def took(self, row: Run) -> object:
        return duration((row.finished_at or timezone.now()) - row.started_at)

    @admin.display(description=_("Error"))
    def failure(self, row: Run) -> object:
        words = shown(row.error[:200])
        return format_html('<span class="pm-words">{}</span>', words) if words else ""

    def sections(self, request: HttpRequest, row: Run) -> list[Section]:
        del request
        what = [
            (_("Kind"), shown(row.kind)),
            (_("Target"), looked_up(row.tenant, row.target) if row.target else ""),
            (_("State"), self.states(row)),
            (_("Progress"), progress(row)),
            (_("Pace"), _pace(row)),
            (_("Error"), shown(row.error)),
            (_("Failures in a row"), row.attempts),
            *_receipt(row),
            (_("By"), shown(row.actor)),
            (_("Id"), links.code(row.id)),
        ]
        times = [
            (_("Started"), moment(row.started_at)),
            (_("Last sign of life"), moment(row.heartbeat_at)),
            (_("Ended"), moment(row.finished_at)),
            (_("Is tried again"), moment(row.next_try_at)),
            (_("Took"), self.took(row)),
        ]
        sections = [Section(_("Run"), what), Section(_("Times"), times)]
        return [*sections, *run_sections(row)]

    def row_tools(self, request: HttpRequest, row: Run) -> list[Tool]:
        return [*act_tools(request, row), *run_tools(request, row)]

    def more_urls(self) -> list[URLPattern]:
        address = "<path:object_id>/delete-export/"
        return [
            self.route(address, self.delete_export_view, "delete_export"),
            self.route("<path:object_id>/cancel/", self.cancel_view, "cancel"),
            self.route("<path:object_id>/retry/", self.retry_view, "retry"),
        ]

    def cancel_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then cancel a run."""
        return cancel_view(self, request, self.object_or_404(request, object_id))

    def retry_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then let a run go on."""
        return retry_view(self, request, self.object_or_404(request, object_id))

    def delete_export_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then remove the files of an export."""
        return delete_view(self, request, self.object_or_404(request, object_id))


def _receipt(row: Run) -> list[tuple[object, object]]:
    """Return the line that leads to what an erasure ended with."""
    if row.kind != KIND:
        return []
    rows = ErasureReceipt.objects.using(using()).filter(tenant=row.tenant)
    found = rows.filter(run_id=row.id).first()
    link = links.anchor(links.row_page(found), _("open")) if found else NOTHING
    return [(_("Receipt"), link)]


def progress(row: Run) -> object:
    """Return the counts of a run, with a bar where it is known what there is to do."""
    if not row.counts:
        return NOTHING
    done, total = runs.done_and_total(row)
    bar: object = ""
    if total:
        bar = format_html(
            '<progress max="{}" value="{}" aria-label="{}"></progress> {} % ',
            total,
            done,
            _("done"),
            int(runs.percent(row) or 0),
        )
    pairs = ((named(name), shown(counted(n))) for name, n in row.counts.items())
    return format_html("{}{}", bar, format_html_join("; ", "{}: {}", pairs))


def _pace(row: Run) -> object:
    pace = runs.per_second(row)
    return _("%s a second") % f"{pace:,.1f}" if pace else NOTHING


def duration(span: dt.timedelta) -> str:
    """Return a span in the two largest of its units."""
    seconds = max(0, int(span.total_seconds()))
    parts = [
        (seconds // 86_400, "d"),
        (seconds // 3_600 % 24, "h"),
        (seconds // 60 % 60, "min"),
        (seconds % 60, "s"),
    ]
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    return " ".join(f"{amount} {unit}" for amount, unit in parts[:2])
