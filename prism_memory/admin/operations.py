"""Operations: what waits, what runs, what failed, and how the last day was."""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from prism_memory import metrics
from prism_memory.admin import keyset, links
from prism_memory.admin.badges import moment
from prism_memory.admin.characters import shown
from prism_memory.admin.day import as_table, charts, happened, stood
from prism_memory.admin.operation_parts import (
    failed_section,
    people_section,
    running_section,
    sizes_section,
    vectors_of,
    worst_section,
)
from prism_memory.admin.parts import Place, Section
from prism_memory.admin.tabs import tabs
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.models import Reading

OF_ALL: Final = {
    "pending": (_("Texts that wait for their vector"), _("Waiting")),
    "failed": (_("Texts that were given up"), _("Given up")),
    "reviews": (_("What waits for a person"), _("For people")),
    "running": (_("Long work under way"), _("Under way")),
}
OF_TENANT: Final = {name: OF_ALL[name] for name in ("pending", "failed")}
LATE_AFTER: Final = dt.timedelta(minutes=15)
"""Three readings that did not come."""


@admin.register(Reading)
class OperationsAdmin(TenantAdmin):
    """One page: of the installation, or of the tenant that its address names."""

    installation = True
    order = keyset.Order(("hour", "id"), descending=True)
    list_template = "admin/prism_memory/operations.html"

    def place(self, request: HttpRequest) -> Place:
        """Return whose page it is: the installation's, where no tenant is named."""
        place = super().place(request)
        if place.tenant is None and not place.unknown:
            return Place("", wish=links.tenant_wish(""))
        return place

    def rows(self, place: Place) -> QuerySet[Any]:
        """Return none: readings have no pages of their own."""
        return super().rows(place).none()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        place = self.place(request)
        context = {
            "title": capfirst(self.opts.verbose_name_plural),
            "place": place,
            "tenant_shown": shown(place.tenant or ""),
            "tabs": tabs(request, place.tenant, self.model),
        }
        if place.tenant is not None:
            context |= self._now(request, place.tenant)
        return self.answer(request, self.list_template, context | (extra_context or {}))

    def _now(self, request: HttpRequest, tenant: str) -> dict[str, Any]:
        """Return what the page shows. Eight queries, nine of a tenant."""
        now = timezone.now()
        found = metrics.spaces(using=using())
        ids = [space.id for space in found]
        state = metrics.state_of(using=using(), tenant=tenant, space_ids=ids)
        points = metrics.day_of(using=using(), tenant=tenant, at=now)
        series = stood(points, OF_TENANT if tenant else OF_ALL)
        if tenant:
            series += happened(tenant, now)
        return {
            "charts": charts(series, now),
            "table": as_table(series, now),
            "read": _read(points, tenant, now),
            "vectors": vectors_of(request, tenant, state, found),
            "vectors_of_tenant": bool(tenant),
            "sections": [
                running_section(tenant, now),
                failed_section(tenant, now),
                *_beside(request, tenant, state, points),
            ],
        }


def _beside(
    request: HttpRequest,
    tenant: str,
    state: metrics.TenantState,
    points: list[metrics.Point],
) -> list[Section]:
    if tenant:
        return people_section(request, tenant, state)
    return [worst_section(points), sizes_section()]


def _read(points: list[metrics.Point], tenant: str, now: dt.datetime) -> dict[str, Any]:
    """Return when it was read last, and whether that should worry."""
    last = points[-1].at if points else None
    # Of a tenant with nothing to tell nothing is kept: that is no trouble.
    late = not tenant and (last is None or now - last > LATE_AFTER)
    return {"last": None if last is None else moment(last), "late": late}
