"""Facts of a tenant: what is claimed, how far it may be relied on, since when."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import keyset, links
from prism_memory.admin.badges import NOTHING, badge, moment
from prism_memory.admin.cards import states, subject_of
from prism_memory.admin.characters import shown
from prism_memory.admin.content import FIELDS, is_derived, short_label
from prism_memory.admin.deciding import buttons, deed_view
from prism_memory.admin.fact_filters import FactFilter
from prism_memory.admin.filters import FilterForm
from prism_memory.admin.items import Item, items_of
from prism_memory.admin.judged import page_of
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.scopes import scope_link
from prism_memory.admin.tables import fact_link
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.admin.words import may_read_gated, previews_of
from prism_memory.models import Fact, Review
from prism_memory.types import record_ref

RIGHT: Final = "change_fact"
DEEDS_HERE: Final = ("accept", "quarantine", "archive", "unarchive", "retract")


@admin.register(Fact)
class FactsAdmin(TenantAdmin):
    """Newest first."""

    order = keyset.Order(("id",), descending=True)
    detail_template = "admin/prism_memory/fact.html"
    list_display = ("what", "state", "trust", "place_in", "since", "until", "held")
    empty = _("No fact here.")
    intro = _("What is claimed, on what evidence. The search finds what you may read.")

    def more_urls(self) -> list[URLPattern]:
        return [
            self.route(f"<path:object_id>/{name}/", partial(self.deed_view, name), name)
            for name in DEEDS_HERE
        ]

    def filter_form(self, request: HttpRequest, place: Place) -> FilterForm:
        gated = may_read_gated(request)
        return FactFilter(request.GET, tenant=place.tenant or "", gated=gated)

    def rows(self, place: Place) -> QuerySet[Any]:
        rows = super().rows(place)
        rows = rows.select_related("scope", "record__scope", "record__source")
        return rows.defer(*(f"record__{name}" for name in (*FIELDS, "search", "mac")))

    def list_context(
        self,
        request: HttpRequest,
        place: Place,
        form: FilterForm,
        window: keyset.Window,
    ) -> dict[str, Any]:
        gated = may_read_gated(request)
        records = [row.record for row in window.rows]
        items = items_of(records, gated=gated, with_words=False)
        texts = previews_of(records, gated=gated)
        for row in window.rows:
            row.item, row.preview = items[row.id], texts.get(row.id)
        return super().list_context(request, place, form, window)

    @admin.display(description=_("Fact"))
    def what(self, row: Any) -> object:  # noqa: ANN401 - a Fact, furnished
        words: object = format_html('<em class="pm-withheld">{}</em>', _("withheld"))
        name = ""
        if row.preview is not None:
            words, name = shown(row.preview), subject_of(row.item)
        link = links.anchor(links.row_page(row), name or fact_name(row))
        return format_html('{}<div class="pm-preview">{}</div>', link, words)

    @admin.display(description=_("State"))
    def state(self, row: Any) -> object:  # noqa: ANN401 - a Fact, furnished
        return states(row.item)

    @admin.display(description=_("Trust"))
    def trust(self, row: Fact) -> object:
        return badge(row.record.get_trust_display())

    @admin.display(description=_("Scope"))
    def place_in(self, row: Fact) -> object:
        return scope_link(row.scope)

    @admin.display(description=_("Valid from"))
    def since(self, row: Any) -> object:  # noqa: ANN401 - a Fact, furnished
        version = row.item.version
        return moment(version.valid_from) if version else NOTHING

    @admin.display(description=_("Valid until"))
    def until(self, row: Any) -> object:  # noqa: ANN401 - a Fact, furnished
        version = row.item.version
        return moment(version.valid_to, _("open")) if version else NOTHING

    @admin.display(description=_("Held from"))
    def held(self, row: Any) -> object:  # noqa: ANN401 - a Fact, furnished
        version = row.item.version
        return moment(version.recorded_from) if version else NOTHING

    def name_of(self, row: Fact) -> str:
        return f"Fact {fact_name(row)}"

    def audit_target(self, row: Fact) -> str:
        return record_ref(row.id)

    def item(self, request: HttpRequest, row: Fact) -> Item:
        """Return a fact as it stands. Three queries."""
        return items_of([row.record], gated=may_read_gated(request))[row.id]

    def sections(self, request: HttpRequest, row: Fact) -> list[Section]:
        del request
        key: object = shown(row.key)
        if is_derived(row.key):
            key = _("(made from its words)")
        identity = [
            (_("Key"), key),
            (_("Scope"), scope_link(row.scope)),
            (_("Principal"), badge(row.get_principal_display())),
            (_("Sensitivity"), badge(row.get_sensitivity_display())),
            (_("Id"), links.code(row.id)),
        ]
        return [
            Section(_("Fact"), identity),
            Section(_("What came of it"), _closing(row)),
        ]

    def row_tools(self, request: HttpRequest, row: Fact) -> list[Tool]:
        return [
            *waiting_tools(request, row.tenant, row.id),
            Tool(_("Its record"), links.row_page(row.record)),
            Tool(_("Audit"), links.audit_of(row.tenant, self.audit_target(row))),
        ]

    def more(self, request: HttpRequest, row: Fact) -> dict[str, Any]:
        item = self.item(request, row)
        offered = buttons(request, row, item, names=DEEDS_HERE, right=RIGHT)
        return page_of(request, item) | {"buttons": list(offered)}

    def deed_view(
        self, name: str, request: HttpRequest, object_id: str
    ) -> HttpResponse:
        """Say what follows, ask why, then do it."""
        row = self.object_or_404(request, object_id)
        back, item = links.row_page(row), self.item(request, row)
        answer = deed_view(self, request, row, item, name, right=RIGHT, back=back)
        return answer or HttpResponseRedirect(back)


def fact_name(row: Fact) -> str:
    """Return a fact's key, or its id's end where the key is made of its words."""
    return short_label(row.record) if is_derived(row.key) else row.key


def waiting_tools(request: HttpRequest, tenant: str, record_id: Any) -> list[Tool]:  # noqa: ANN401 - an id
    """Return where a record waits for a person, for who may look there. One query."""
    if not links.may_view(request.user, Review):
        return []
    rows = Review.objects.using(using()).filter(tenant=tenant, record=record_id)
    waiting = rows.filter(decided_at=None).order_by("why")
    return [
        Tool(_("Review: %s") % row.get_why_display(), links.row_page(row))
        for row in waiting
    ]


def _closing(row: Fact) -> list[tuple[object, object]]:
    """Return why a fact is open no more, and what it replaced."""
    others = (
        (_("Replaces"), row.supersedes),
        (_("Replaced by"), row.superseded_by),
        (_("Waits to replace"), row.pending_supersedes),
    )
    linked = [
        (label, fact_link(row.tenant, one) if one else "") for label, one in others
    ]
    return [
        (_("State"), row.get_closing_display()),
        (_("Closed"), moment(row.closed_at)),
        (_("By"), shown(row.closing_actor)),
        (_("Reason"), shown(row.closing_reason)),
        (_("Archived"), moment(row.archived_at)),
        *linked,
    ]
