"""Holds: what is kept from deletion, and the end of that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonForm, Told, ask
from prism_memory.admin.badges import badge, moment
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section, Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.refs import row_of
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.models import LegalHold
from prism_memory.models.choices import HoldLevelChoice
from prism_memory.types import Scope as ScopeValue


class HoldFilter(FilterForm):
    target = ExactNameField(label=_("On, exactly"))
    matter = ExactNameField(label=_("Matter, exactly"))
    level = choice(_("Level"), HoldLevelChoice.choices)
    state = choice(_("State"), [("force", _("in force")), ("ended", _("released"))])
    exact = {"target": "target_ref", "matter": "matter", "level": "level"}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().narrow(rows)
        if state := self.cleaned_data["state"]:
            rows = rows.filter(released_at__isnull=state == "force")
        return rows


RELEASE: Final = Ask(_("Release this hold?"), _("Release"), danger=True)


@admin.register(LegalHold)
class HoldsAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("id",), descending=True)
    filters = HoldFilter
    list_display = ("on", "level_badge", "for_what", "state", "by", "made", "ended")
    empty = _("Nothing is held here.")
    intro = _("Each keeps something from deletion, whoever asks. It hides nothing.")

    def more_urls(self) -> list[URLPattern]:
        return [self.route("<path:object_id>/release/", self.release_view, "release")]

    @admin.display(description=_("On"))
    def on(self, row: LegalHold) -> object:
        return links.anchor(links.row_page(row), links.code(row.target_ref))

    @admin.display(description=_("Level"))
    def level_badge(self, row: LegalHold) -> object:
        return badge(row.get_level_display())

    @admin.display(description=_("Matter"))
    def for_what(self, row: LegalHold) -> object:
        return shown(row.matter)

    @admin.display(description=_("State"))
    def state(self, row: LegalHold) -> object:
        if row.released_at is None:
            return badge(_("in force"), "warn")
        return badge(_("released"))

    @admin.display(description=_("By"))
    def by(self, row: LegalHold) -> object:
        return shown(row.placed_by)

    @admin.display(description=_("Placed"))
    def made(self, row: LegalHold) -> object:
        return moment(row.placed_at)

    @admin.display(description=_("Released"))
    def ended(self, row: LegalHold) -> object:
        return moment(row.released_at)

    def row_tools(self, request: HttpRequest, row: LegalHold) -> list[Tool]:
        audit = Tool(_("Audit"), links.audit_of(row.tenant, row.target_ref))
        if row.released_at is not None or not _may_release(request):
            return [audit]
        return [Tool(_("Release"), links.row_page(row, "release")), audit]

    def sections(self, request: HttpRequest, row: LegalHold) -> list[Section]:
        del request
        pairs = [
            (_("On"), _target(row)),
            (_("Level"), self.level_badge(row)),
            (_("Matter"), shown(row.matter)),
            (_("State"), self.state(row)),
            (_("Reason"), _told(row)),
            (_("Placed by"), shown(row.placed_by)),
            (_("Placed"), moment(row.placed_at)),
            (_("Released by"), shown(row.released_by)),
            (_("Released"), moment(row.released_at)),
            (_("Id"), links.code(row.id)),
        ]
        return [Section(_("Hold"), pairs)]

    def release_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say what ends, ask why, then end it."""
        row = self.object_or_404(request, object_id)
        if not _may_release(request):
            raise PermissionDenied
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            return _release(request, row, form.cleaned_data["reason"])
        return ask(self, request, row, form, replace(RELEASE, effect=[_effect(row)]))


def _release(request: HttpRequest, row: LegalHold, reason: str) -> HttpResponse:
    with Told(request) as told:
        lifecycle.release(
            using=using(),
            scope=ScopeValue(row.tenant),  # above whatever it is on
            actor=actor(request),
            hold_id=row.id,
            at=timezone.now(),
            reason=reason,
        )
    if not told.refused:
        messages.success(request, _("The hold was released."))
    return HttpResponseRedirect(links.row_page(row))


def _may_release(request: HttpRequest) -> bool:
    return bool(request.user.has_perm("prism_memory.change_legalhold"))


def _effect(row: LegalHold) -> object:
    """Return what the end of a hold changes. One query."""
    rows = LegalHold.objects.using(using()).filter(
        tenant=row.tenant, target_ref=row.target_ref, released_at=None
    )
    if rows.exclude(id=row.id).exists():
        return _("Other holds on the same stand, so it stays kept.")
    return _(
        "What it is on can be deleted again, unless a hold above it stands. Nothing is"
        " deleted now."
    )


def _told(row: LegalHold) -> object:
    """Return where its reasons stand: the audit alone has them."""
    return links.anchor(links.audit_of(row.tenant, row.target_ref), _("in the audit"))


def _target(row: LegalHold) -> object:
    """Return what it is on, linked where there is a page of it."""
    found = row_of(row.tenant, row.target_ref)
    if found is None:  # nothing was written there yet
        return links.ref_link(row.tenant, row.target_ref)
    return links.anchor(links.row_page(found), shown(str(found)))
