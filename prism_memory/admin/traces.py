"""What was recalled, and why. Traces hold no text; records show theirs themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.audit import LocalTimeField
from prism_memory.admin.badges import Tone, badges, moment
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section
from prism_memory.admin.record_sections import labels
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.models import RecallTrace
from prism_memory.types import record_ref

WHICH: Final = (_("Place"), _("Record"), _("What"))
WHY: Final = (_("Score"), _("Ranks"), _("Signals"))


class TraceFilter(FilterForm):
    scope = forms.UUIDField(label=_("Scope's id"), required=False)
    owner = ExactNameField(label=_("Owner, exactly"))
    since = LocalTimeField(label=_("From"))
    until = LocalTimeField(label=_("Before"))
    exact = {
        "scope": "scope_id",
        "owner": "owner",
        "since": "at__gte",
        "until": "at__lt",
    }


@admin.register(RecallTrace)
class TracesAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("at", "id"), descending=True)
    filters = TraceFilter
    list_display = ("when", "where", "found", "how", "took", "by")
    empty = _("No recall left a trace here. The setting TRACES decides it.")
    intro = _("What was recalled, with scores and timings. Traces hold no text.")

    @admin.display(description=_("At"))
    def when(self, row: RecallTrace) -> object:
        return links.anchor(links.row_page(row), moment(row.at))

    @admin.display(description=_("Scope"))
    def where(self, row: RecallTrace) -> object:
        same = links.list_page(RecallTrace, tenant=row.tenant, scope=row.scope_id)
        names = " / ".join(filter(None, (row.owner, row.agent, row.thread)))
        return links.anchor(same, names or _("(the tenant's own level)"))

    @admin.display(description=_("Hits"))
    def found(self, row: RecallTrace) -> object:
        return len(row.hits)

    @admin.display(description=_("Strategy"))
    def how(self, row: RecallTrace) -> object:
        ways: list[tuple[Any, Tone]] = [(shown(row.strategy), "quiet")]
        if row.degraded:
            ways.append((shown(row.degraded), "warn"))
        return badges(ways)

    @admin.display(description=_("Milliseconds"))
    def took(self, row: RecallTrace) -> object:
        return f"{sum(row.timings_ms.values()):,.1f}" if row.timings_ms else ""

    @admin.display(description=_("Actor"))
    def by(self, row: RecallTrace) -> object:
        return links.ref_link(row.tenant, row.actor)

    def sections(self, request: HttpRequest, row: RecallTrace) -> list[Section]:
        del request
        what = [
            (_("At"), moment(row.at)),
            (_("Scope"), self.where(row)),
            (_("Read mode"), row.get_mode_display()),
            (_("Strategy"), self.how(row)),
            (_("Actor"), self.by(row)),
            (_("Question"), links.code(bytes(row.query_sha256).hex())),
            (_("Id"), links.code(row.id)),
        ]
        return [
            Section(_("Recall"), what),
            hits_section(row),
            numbers(_("Options"), row.options),
            numbers(_("Milliseconds by step"), slowest_first(row.timings_ms)),
        ]


def hits_section(row: RecallTrace) -> Section:
    """Return the hits, best first, each linked to its record. One query."""
    refs = [record_ref(hit["id"]) for hit in row.hits]
    known = labels(row.tenant, refs)
    lines = [
        (
            place,
            links.ref_link(row.tenant, ref) if ref in known else links.code(ref),
            shown(known[ref]) if ref in known else _("no longer there"),
            f"{hit['score']:.4f}",
            pairs(hit["ranks"]),
            pairs(hit["signals"]),
        )
        for place, (ref, hit) in enumerate(zip(refs, row.hits, strict=True), 1)
    ]
    return Section(
        _("Hits"),
        lines,
        headers=WHICH + WHY,
        empty=_("Nothing was found."),
    )


def pairs(found: Mapping[str, Any]) -> object:
    """Return names and numbers in a line."""
    return shown(", ".join(f"{name} {value:.6g}" for name, value in found.items()))


def numbers(title: object, found: Mapping[str, Any]) -> Section:
    """Return names and values as a table."""
    return Section(
        title,
        [(shown(name), shown(_value(value))) for name, value in found.items()],
        headers=(_("Name"), _("Value")),
        empty=_("None."),
    )


def slowest_first(timings_ms: Mapping[str, float]) -> dict[str, float]:
    """Return the steps by their length: the database keeps no order of them."""
    return dict(sorted(timings_ms.items(), key=lambda step: -step[1]))


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {weight}" for name, weight in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
