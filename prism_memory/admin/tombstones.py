"""Tombstones: why something may no longer be used."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import badge, badges, moment
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.models import Tombstone
from prism_memory.models.choices import TombstoneReasonChoice


def reason_badges(row: Tombstone) -> object:
    """Return the reason, whether it is a hold, and whether it is in force."""
    tone = "quiet" if row.cleared_at else "bad"
    found: list[Any] = [(row.get_reason_display(), tone)]
    return badges([*found, (_("hold"), "warn")] if row.hold else found)


def tombstone_row(row: Tombstone) -> tuple[object, ...]:
    """Return a tombstone as a table's row."""
    return (
        links.anchor(links.row_page(row), reason_badges(row)),
        links.ref_link(row.tenant, row.target_ref),
        links.ref_link(row.tenant, row.root_ref),
        shown(row.actor),
        moment(row.at),
        moment(row.cleared_at),
    )


class TombstoneFilter(FilterForm):
    target = ExactNameField(label=_("On, exactly"))
    root = ExactNameField(label=_("Because of, exactly"))
    reason = choice(_("Reason"), TombstoneReasonChoice.choices)
    state = choice(_("State"), [("force", _("in force")), ("lifted", _("lifted"))])
    exact = {"target": "target_ref", "root": "root_ref", "reason": "reason"}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().narrow(rows)
        if state := self.cleaned_data["state"]:
            rows = rows.filter(cleared_at__isnull=state == "force")
        return rows


@admin.register(Tombstone)
class TombstonesAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("id",), descending=True)
    filters = TombstoneFilter
    list_display = ("why", "on", "because_of", "by", "made", "lifted")
    empty = _("Nothing is blocked here.")
    intro = _("Each blocks one thing and all that is derived from it, until lifted.")

    @admin.display(description=_("Reason"))
    def why(self, row: Tombstone) -> object:
        return links.anchor(links.row_page(row), reason_badges(row))

    @admin.display(description=_("On"))
    def on(self, row: Tombstone) -> object:
        return links.ref_link(row.tenant, row.target_ref)

    @admin.display(description=_("Because of"))
    def because_of(self, row: Tombstone) -> object:
        return links.ref_link(row.tenant, row.root_ref)

    @admin.display(description=_("By"))
    def by(self, row: Tombstone) -> object:
        return shown(row.actor)

    @admin.display(description=_("At"))
    def made(self, row: Tombstone) -> object:
        return moment(row.at)

    @admin.display(description=_("Lifted"))
    def lifted(self, row: Tombstone) -> object:
        return moment(row.cleared_at)

    def sections(self, request: HttpRequest, row: Tombstone) -> list[Section]:
        del request
        force = badge(_("lifted")) if row.cleared_at else badge(_("in force"), "bad")
        supersedes = row.supersedes_ref
        pairs = [
            (_("Reason"), reason_badges(row)),
            (_("State"), force),
            (_("On"), links.ref_link(row.tenant, row.target_ref)),
            (_("Because of"), links.ref_link(row.tenant, row.root_ref)),
            (
                _("Replaces"),
                links.ref_link(row.tenant, supersedes) if supersedes else "",
            ),
            (_("By"), shown(row.actor)),
            (_("At"), moment(row.at)),
            (_("Lifted"), moment(row.cleared_at)),
            (_("Id"), links.code(row.id)),
        ]
        return [Section(_("Tombstone"), pairs)]
