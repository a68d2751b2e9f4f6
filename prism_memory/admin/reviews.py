"""What waits for a person: proposals, what the gate holds back, conflicts."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import keyset, links
from prism_memory.admin.badges import badge, moment
from prism_memory.admin.cards import states, subject_of
from prism_memory.admin.characters import shown
from prism_memory.admin.content import FIELDS, short_label
from prism_memory.admin.deciding import buttons, deed_view, refusals
from prism_memory.admin.deciding_many import RIGHT, bulk, many_view
from prism_memory.admin.filters import FilterForm
from prism_memory.admin.items import Item, items_of
from prism_memory.admin.judged import page_of
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.review_filters import ReviewFilter
from prism_memory.admin.review_parts import (
    box,
    counts_of,
    decision_badge,
    query_of,
    why_badge,
)
from prism_memory.admin.review_walk import following, neighbours
from prism_memory.admin.scopes import scope_link
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.words import may_read_gated, previews_of
from prism_memory.models import Review
from prism_memory.types import record_ref

DEEDS_HERE: Final = (
    *("accept", "validate", "force", "reject", "keep", "replace", "same"),
    "quarantine",
)


@admin.register(Review)
class ReviewsAdmin(TenantAdmin):
    """By reason, those first that wait longest: as the index has them."""

    order = keyset.Order(("why", "opened_at", "id"))
    filters = ReviewFilter
    list_template = "admin/prism_memory/reviews.html"
    detail_template = "admin/prism_memory/review.html"
    list_display = ("what", "why_badge", "state", "trust", "by", "place_in", "since")
    empty = _("Nothing waits for a person here.")
    intro = _("What agents may not rely on until somebody has looked at it.")

    def more_urls(self) -> list[URLPattern]:
        return [
            self.route("many/", self.many_view, "many"),
            *(
                self.route(
                    f"<path:object_id>/{name}/", partial(self.deed_view, name), name
                )
                for name in DEEDS_HERE
            ),
        ]

    # -- the queue

    def rows(self, place: Place) -> QuerySet[Any]:
        rows = super().rows(place).select_related("scope", "record__scope")
        rows = rows.select_related("record__source")
        return rows.defer(*(f"record__{name}" for name in (*FIELDS, "search", "mac")))

    def list_context(
        self,
        request: HttpRequest,
        place: Place,
        form: FilterForm,
        window: keyset.Window,
    ) -> dict[str, Any]:
        self._furnish(request, window.rows)
        context = super().list_context(request, place, form, window)
        offered = bulk(request) if window.rows else []
        return context | {
            "counts": counts_of(place) if place.tenant else [],
            "verbs": offered,
            "many_page": links.with_wish(links.page(Review, "many"), place.wish),
            "is_list": True,
        }

    def _furnish(self, request: HttpRequest, rows: list[Any]) -> None:
        """Load what all rows show, in as many queries as for one."""
        gated = may_read_gated(request)
        records = {row.record_id: row.record for row in rows}
        items = items_of(records.values(), gated=gated, with_words=False)
        texts = previews_of(records.values(), gated=gated)
        query = query_of(request)
        choosable = bool(bulk(request))
        for row in rows:
            row.item = items[row.record_id]
            row.preview = texts.get(row.record_id)
            row.subject = subject_of(row.item) if row.preview else ""
            row.choosable = choosable and row.decided_at is None
            row.query = query

    @admin.display(description=_("What"))
    def what(self, row: Any) -> object:  # noqa: ANN401 - a Review, furnished
        words = (
            format_html('<em class="pm-withheld">{}</em>', _("withheld"))
            if row.preview is None
            else shown(row.preview)
        )
        name = short_label(row.record)
        if row.item.fact is not None:
            name = row.subject or name
        link = links.anchor(f"{links.row_page(row)}{row.query}", name)
        tick = box(row) if row.choosable else ""
        return format_html('{}{}<div class="pm-preview">{}</div>', tick, link, words)

    @admin.display(description=_("Reason"))
    def why_badge(self, row: Review) -> object:
        return why_badge(row)

    @admin.display(description=_("State"))
    def state(self, row: Any) -> object:  # noqa: ANN401 - a Review, furnished
        decided = decision_badge(row)
        return format_html("{} {}", states(row.item), decided)

    @admin.display(description=_("Trust"))
    def trust(self, row: Review) -> object:
        return badge(row.record.get_trust_display())

    @admin.display(description=_("Writer"))
    def by(self, row: Review) -> object:
        return shown(row.record.writer)

    @admin.display(description=_("Scope"))
    def place_in(self, row: Review) -> object:
        return scope_link(row.record.scope)

    @admin.display(description=_("Waiting since"))
    def since(self, row: Review) -> object:
        until = row.decided_at or timezone.now()
        age = timesince(row.opened_at, until, depth=1)
        return format_html('{}<div class="help">{}</div>', moment(row.opened_at), age)

    # -- one of it

    def name_of(self, row: Review) -> str:
        kind = row.record.get_kind_display()
        return f"{row.get_why_display()}: {kind} {short_label(row.record)}"

    def audit_target(self, row: Review) -> str:
        return record_ref(row.record_id)

    def item(self, request: HttpRequest, row: Review) -> Item:
        """Return what a review is about, as it stands. Four queries."""
        gated = may_read_gated(request)
        return items_of([row.record], gated=gated, reviews=[row])[row.record_id]

    def sections(self, request: HttpRequest, row: Review) -> list[Section]:
        del request
        pairs = [
            (_("Reason"), self.why_badge(row)),
            (_("Waiting since"), moment(row.opened_at)),
            (_("Decided"), moment(row.decided_at)),
            (_("Decision"), decision_badge(row)),
            (_("By"), shown(row.actor)),
            (_("Scope"), scope_link(row.record.scope)),
            (_("Why gated"), shown(row.record.gate_reason)),
            (_("Id"), links.code(row.id)),
        ]
        return [Section(_("Review"), pairs)]

    def row_tools(self, request: HttpRequest, row: Review) -> list[Tool]:
        del request
        audit = links.audit_of(row.tenant, self.audit_target(row))
        return [
            Tool(_("Its record"), links.row_page(row.record)),
            Tool(_("Audit"), audit),
        ]

    def more(self, request: HttpRequest, row: Review) -> dict[str, Any]:
        item, query = self.item(request, row), query_of(request)
        around = neighbours(request, row, self.order)
        offered = buttons(
            request, row, item, names=DEEDS_HERE, right=RIGHT, query=query
        )
        return page_of(request, item) | {
            "buttons": list(offered) if row.decided_at is None else [],
            "previous": around[0] and f"{around[0]}{query}",
            "next": around[1] and f"{around[1]}{query}",
            "queue": links.list_page(Review, **links.tenant_wish(row.tenant))
            + query.replace("?", "&", 1),
            "decided": decision_badge(row),
            "refusals": refusals(request, item, right=RIGHT),
        }

    def deed_view(
        self, name: str, request: HttpRequest, object_id: str
    ) -> HttpResponse:
        """Say what follows, ask why, then do it; and go on to what waits next."""
        row = self.object_or_404(request, object_id)
        query = query_of(request)
        back = f"{links.row_page(row)}{query}"
        answer = deed_view(
            self,
            request,
            row,
            self.item(request, row),
            name,
            right=RIGHT,
            back=back,
        )
        return answer or HttpResponseRedirect(following(request, row, self.order, back))

    def many_view(self, request: HttpRequest) -> HttpResponse:
        """Say which of the chosen can be decided so, ask why, then decide those."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return many_view(self, request, self.place(request))
