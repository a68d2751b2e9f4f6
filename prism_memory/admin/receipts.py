"""Receipts of erasures: counts and ids, no names."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.counted import label
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Section
from prism_memory.admin.refs import looked_up
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.models import ErasureReceipt, Run
from prism_memory.models.choices import ErasureLevelChoice
from prism_memory.types.erasures import RECORDS


class ReceiptFilter(FilterForm):
    target = ExactNameField(label=_("Of, exactly"))
    level = choice(_("Level"), ErasureLevelChoice.choices)
    exact = {"target": "target_ref", "level": "level"}


@admin.register(ErasureReceipt)
class ReceiptsAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("id",), descending=True)
    filters = ReceiptFilter
    list_display = ("what", "target", "records", "kept_by_holds", "by", "ended")
    empty = _("Nothing was erased here.")
    intro = _("What each erasure removed, and what holds kept: counts, no names.")

    @admin.display(description=_("Level"))
    def what(self, row: ErasureReceipt) -> object:
        return links.anchor(links.row_page(row), row.get_level_display())

    @admin.display(description=_("Of"))
    def target(self, row: ErasureReceipt) -> object:
        return links.ref_link(row.tenant, row.target_ref)

    @admin.display(description=_("Records"))
    def records(self, row: ErasureReceipt) -> object:
        if not row.found:
            return badge(_("nothing found"), "quiet")
        return number(row.counts.get(RECORDS, 0))

    @admin.display(description=_("Kept by holds"))
    def kept_by_holds(self, row: ErasureReceipt) -> object:
        kept = row.kept.get("records", 0) + row.kept.get("derived", 0)
        return badge(number(kept), "warn") if kept else ""

    @admin.display(description=_("By"))
    def by(self, row: ErasureReceipt) -> object:
        return shown(row.actor)

    @admin.display(description=_("Ended"))
    def ended(self, row: ErasureReceipt) -> object:
        return moment(row.finished_at)

    def sections(self, request: HttpRequest, row: ErasureReceipt) -> list[Section]:
        del request
        run = Run(id=row.run_id, tenant=row.tenant) if row.run_id else None
        what = [
            (_("Level"), shown(row.get_level_display())),
            (_("Of"), looked_up(row.tenant, row.target_ref)),
            (_("Records"), self.records(row)),
            (_("Run"), links.anchor(links.row_page(run), _("open")) if run else ""),
            (_("By"), shown(row.actor)),
            (_("Began"), moment(row.at)),
            (_("Ended"), moment(row.finished_at)),
            (_("Id"), links.code(row.id)),
        ]
        rows = [(label(name), number(count)) for name, count in row.counts.items()]
        kept = [(label(name), number(count)) for name, count in row.kept.items()]
        return [
            Section(_("Receipt"), what),
            Section(_("Rows removed"), rows),
            Section(_("Kept by holds"), kept),
        ]
