"""Tenants: where every walk through the pages begins."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import moment
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section
from prism_memory.admin.readonly import ReadOnlyAdmin
from prism_memory.admin.tabs import tabs
from prism_memory.models import AuditEvent, Run, Scope, Source, Tenant


class TenantFilter(FilterForm):
    name = ExactNameField(label=_("Exact name"))
    exact = {"name": "name"}


@admin.register(Tenant)
class TenantsAdmin(ReadOnlyAdmin):
    """The names ever used."""

    order = Order(("name",))
    filters = TenantFilter
    list_display = ("tenant", "created", "lists")
    empty = _("No tenant yet: one appears with the first thing it remembers.")

    @admin.display(description=_("Tenant"))
    def tenant(self, row: Tenant) -> object:
        return links.anchor(links.row_page(row), row.name)

    @admin.display(description=_("First used"))
    def created(self, row: Tenant) -> object:
        return moment(row.created_at)

    @admin.display(description=_("Its lists"))
    def lists(self, row: Tenant) -> object:
        models: tuple[tuple[Any, object], ...] = (
            (Scope, _("Scopes")),
            (Source, _("Sources")),
            (Run, _("Runs")),
            (AuditEvent, _("Audit")),
        )
        pages = ((links.list_page(m, tenant=row.name), label) for m, label in models)
        open_to = (page for page in pages if links.leads(page[0]))
        return format_html_join(" · ", '<a href="{}">{}</a>', open_to)

    def sections(self, request: HttpRequest, row: Tenant) -> list[Section]:
        pages = [
            (label, links.anchor(address, _("open")))
            for address, label, _current in tabs(request, row.name, Tenant)
        ]
        first = (_("First used"), moment(row.created_at))
        return [
            Section(_("Tenant"), [(_("Name"), shown(row.name)), first]),
            Section(_("Its lists"), pages),
        ]
