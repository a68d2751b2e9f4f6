"""The audit trail of one tenant, or of the installation."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section
from prism_memory.admin.refs import looked_up
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.models import AuditEvent


class LocalTimeField(forms.DateTimeField):
    """A time in the viewer's zone, picked by the browser's own widget."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - as Django has it
        widget = forms.DateTimeInput(
            attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S"
        )
        super().__init__(required=False, widget=widget, **kwargs)


class AuditFilter(FilterForm):
    action = ExactNameField(label=_("Action, exactly"))
    actor = ExactNameField(label=_("Actor, exactly"))
    target = ExactNameField(label=_("Target, exactly"))
    since = LocalTimeField(label=_("From"))
    until = LocalTimeField(label=_("Before"))
    seal = forms.IntegerField(
        label=_("Under seal"), required=False, min_value=1, max_value=2**63 - 1
    )
    exact = {
        "seal": "seal",
        "action": "action",
        "actor": "actor",
        "target": "target",
        "since": "at__gte",
        "until": "at__lt",
    }


@admin.register(AuditEvent)
class AuditAdmin(TenantAdmin):
    """Newest first. No event holds any text of a record."""

    installation = True
    order = Order(("at", "id"), descending=True)
    filters = AuditFilter
    list_display = ("when", "what", "on", "by", "why", "details")
    empty = _("No event here.")
    intro = _("Who did what to which id, when and why. Events hold no text of records.")

    @admin.display(description=_("At"))
    def when(self, row: AuditEvent) -> object:
        return links.anchor(links.row_page(row), moment(row.at))

    @admin.display(description=_("Action"))
    def what(self, row: AuditEvent) -> object:
        return badge(shown(row.action), "warn" if "reveal" in row.action else "quiet")

    @admin.display(description=_("Target"))
    def on(self, row: AuditEvent) -> object:
        return links.ref_link(row.tenant, row.target)

    @admin.display(description=_("Actor"))
    def by(self, row: AuditEvent) -> object:
        return links.ref_link(row.tenant, row.actor)

    @admin.display(description=_("Reason"))
    def why(self, row: AuditEvent) -> object:
        return shown(row.reason)

    @admin.display(description=_("Details"))
    def details(self, row: AuditEvent) -> object:
        if not row.detail:
            return ""
        text = shown(json.dumps(row.detail, ensure_ascii=False))
        return format_html('<code class="pm-ref pm-json">{}</code>', text)

    def sections(self, request: HttpRequest, row: AuditEvent) -> list[Section]:
        del request
        same = links.anchor(
            links.audit_of(row.tenant, row.target), _("all events of this target")
        )
        pairs = [
            (_("At"), moment(row.at)),
            (_("Action"), self.what(row)),
            (_("Target"), looked_up(row.tenant, row.target)),
            (_("Actor"), self.by(row)),
            (_("Reason"), shown(row.reason)),
            (_("Details"), self.details(row)),
            (_("Under seal"), "" if row.seal is None else number(row.seal)),
            (_("Id"), links.code(row.id)),
            (_("See also"), same),
        ]
        return [Section(_("Event"), pairs)]
