"""Records of one scope: read, searched and paged; their words only where visible."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import keyset, links
from prism_memory.admin.asking import ReasonForm
from prism_memory.admin.badges import badge, badges, moment
from prism_memory.admin.characters import marked, shown
from prism_memory.admin.chosen import chosen_view, verbs
from prism_memory.admin.consent import consent_tools, consent_view
from prism_memory.admin.content import (
    consent,
    edited,
    key_label,
    loaded,
    previews,
    reasons,
    visible_content,
)
from prism_memory.admin.correct import correct_tools, correct_view
from prism_memory.admin.filters import FilterForm
from prism_memory.admin.forget import forget_tools, forget_view
from prism_memory.admin.gating import gate_tools, gate_view
from prism_memory.admin.holding import hold_view
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.record_filters import RecordFilter
from prism_memory.admin.record_sections import record_sections
from prism_memory.admin.release import (
    hiders,
    kept_by,
    release_tools,
    release_view,
)
from prism_memory.admin.reveal import parts_shown, reveal_view
from prism_memory.admin.scopes import scope_link
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.models import Record, Scope, Source
from prism_memory.types import record_ref


@admin.register(Record)
class RecordsAdmin(TenantAdmin):
    """Newest first, inside one scope."""

    order = keyset.Order(("sequence", "id"), descending=True)
    filters = RecordFilter
    list_template = "admin/prism_memory/records.html"
    detail_template = "admin/prism_memory/record.html"
    list_display = (
        "what",
        "kind_badge",
        "trust_badge",
        "by",
        "gate_badge",
        "consent_badge",
        "state",
        "place_in_order",
        "made",
    )
    empty = _("No record here.")

    def more_urls(self) -> list[URLPattern]:
        return [
            self.route("chosen/", self.chosen_view, "chosen"),
            self.route("<path:object_id>/reveal/", self.reveal_view, "reveal"),
            self.route("<path:object_id>/consent/", self.consent_view, "consent"),
            self.route("<path:object_id>/correct/", self.correct_view, "correct"),
            self.route("<path:object_id>/forget/", self.forget_view, "forget"),
            self.route("<path:object_id>/release/", self.release_view, "release"),
            self.route("<path:object_id>/hold/", self.hold_view, "hold"),
            self.route("<path:object_id>/quarantine/", self.gate_view, "quarantine"),
        ]

    def place(self, request: HttpRequest) -> Place:
        place = super().place(request)
        scope = self._scope(place, request.GET.get("scope", ""))
        wish = place.wish | ({"scope": str(scope.id)} if scope else {})
        return replace(place, scope=scope, wish=wish)

    def _scope(self, place: Place, name: str) -> Scope | None:
        try:
            scope_id = uuid.UUID(name)
        except ValueError:
            return None
        rows = Scope.objects.using(using())
        return rows.filter(tenant=place.tenant, id=scope_id).first()

    def rows(self, place: Place) -> QuerySet[Any]:
        return loaded(super().rows(place))

    def list_rows(self, place: Place) -> QuerySet[Any]:
        # No scope, no records: a search across scopes would mix owners.
        if place.scope is None:
            return Record.objects.none()
        return self.rows(place).filter(scope=place.scope.id)

    def filter_form(self, request: HttpRequest, place: Place) -> FilterForm:
        return RecordFilter(request.GET, scope=place.scope)

    def prepare(self, place: Place, rows: list[Any]) -> None:
        texts = previews(place.scope, rows) if place.scope and rows else {}
        withheld = {row.id for row in rows} - texts.keys()
        changed = edited([row for row in rows if row.id in withheld])
        now = timezone.now()
        for row in rows:
            row.preview = texts.get(row.id)
            row.reasons = (
                reasons(row, now, is_edited=row.id in changed)
                if row.id in withheld
                else []
            )

    def list_context(
        self,
        request: HttpRequest,
        place: Place,
        form: FilterForm,
        window: keyset.Window,
    ) -> dict[str, Any]:
        offered = verbs(request)
        for row in window.rows:
            row.choosable = bool(offered)
        context = super().list_context(request, place, form, window)
        if place.scope is None:
            scopes = links.list_page(Scope, tenant=place.tenant or "")
            link = links.anchor(scopes, _("Scopes of this tenant"))
            return context | {"scopes_link": link}
        source = context["form"].cleaned_data.get("source")
        return context | {
            "scope_link": scope_link(place.scope),
            "verbs": offered if window.rows else [],
            "chosen_page": links.with_wish(links.page(Record, "chosen"), place.wish),
            "source_shown": shown(_source(place, source).key) if source else "",
        }

    @admin.display(description=_("Record"))
    def what(self, row: Any) -> object:  # noqa: ANN401 - a Record with its preview
        words = (
            format_html('<em class="pm-withheld">{}</em>', _("withheld"))
            if row.preview is None
            else shown(row.preview)
        )
        link = links.anchor(links.row_page(row), key_label(row))
        box = _box(row) if getattr(row, "choosable", False) else ""
        return format_html('{}{}<div class="pm-preview">{}</div>', box, link, words)

    @admin.display(description=_("Kind"))
    def kind_badge(self, row: Record) -> object:
        return badge(row.get_kind_display())

    @admin.display(description=_("Trust"))
    def trust_badge(self, row: Record) -> object:
        return badge(row.get_trust_display())

    @admin.display(description=_("Writer"))
    def by(self, row: Record) -> object:
        return shown(row.writer)

    @admin.display(description=_("Gate"))
    def gate_badge(self, row: Record) -> object:
        return badge(row.get_gate_display(), "good" if row.gate == "open" else "warn")

    @admin.display(description=_("Consent"))
    def consent_badge(self, row: Record) -> object:
        return badge(*consent(row))

    @admin.display(description=_("State"))
    def state(self, row: Any) -> object:  # noqa: ANN401 - a Record with its reasons
        return badges(row.reasons or [(_("visible"), "good")])

    @admin.display(description=_("Sequence"))
    def place_in_order(self, row: Record) -> object:
        return row.sequence

    @admin.display(description=_("Created"))
    def made(self, row: Record) -> object:
        return moment(row.created_at)

    def name_of(self, row: Record) -> str:
        return f"{row.get_kind_display()} {key_label(row)}"

    def sections(self, request: HttpRequest, row: Record) -> list[Section]:
        del request
        return record_sections(row)

    def row_tools(self, request: HttpRequest, row: Record) -> list[Tool]:
        return [
            *gate_tools(request, row),
            *consent_tools(request, row),
            *release_tools(request, row, _hiders(row)),
            *forget_tools(request, row),
            *correct_tools(request, row),
            Tool(_("Audit"), links.audit_of(row.tenant, record_ref(row.id))),
        ]

    def more(self, request: HttpRequest, row: Record) -> dict[str, Any]:
        content = visible_content(row)
        if content is not None:
            return {"content": parts_shown(content)}
        return {
            "kept_by": kept_by(row, _hiders(row)),
            "why_withheld": badges(
                reasons(row, timezone.now(), is_edited=bool(edited([row])))
            ),
            "may_reveal": request.user.has_perm("prism_memory.reveal_record"),
            "reveal_form": ReasonForm(),
            "reveal_page": links.row_page(row, "reveal"),
        }

    def chosen_view(self, request: HttpRequest) -> HttpResponse:
        """Say what follows, ask why, then forget or revoke what was chosen."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        place = self.place(request)
        if request.method != "POST":
            return HttpResponseRedirect(links.list_page(Record, **place.wish))
        return chosen_view(self, request, place)

    def reveal_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show withheld words once, after the audit knows of it."""
        row = self.object_or_404(request, object_id)
        if not request.user.has_perm("prism_memory.reveal_record"):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseRedirect(links.row_page(row))
        return reveal_view(self, request, row)

    def forget_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say what goes, ask why, then forget."""
        return forget_view(self, request, self.object_or_404(request, object_id))

    def release_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Say what follows, ask why, then end what a forgetting hid and keeps."""
        return release_view(self, request, self.object_or_404(request, object_id))

    def hold_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask what for and why, then hold."""
        return hold_view(self, request, self.object_or_404(request, object_id))

    def gate_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask why, then hold it back until somebody validates it."""
        return gate_view(self, request, self.object_or_404(request, object_id))

    def consent_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then grant or revoke."""
        row = self.object_or_404(request, object_id)
        if not request.user.has_perm("prism_memory.change_record"):
            raise PermissionDenied
        return consent_view(self, request, row)

    def correct_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then give the record other words."""
        row = self.object_or_404(request, object_id)
        if not request.user.has_perm("prism_memory.change_record"):
            raise PermissionDenied
        return correct_view(self, request, row)


def _box(row: Record) -> object:
    """Return what chooses a record; its form is below the list."""
    return format_html(
        '<input type="checkbox" form="pm-chosen" name="ids" value="{}"'
        ' aria-label="{} {}"> ',
        row.id,
        _("Choose"),
        marked(key_label(row)),
    )


def _hiders(row: Any) -> list[str]:  # noqa: ANN401 - a Record with what hides it
    """Return what hides and keeps a record, asked once."""
    if not hasattr(row, "hiders"):
        row.hiders = hiders(row)
    found: list[str] = row.hiders
    return found


def _source(place: Place, source_id: uuid.UUID) -> Source:
    rows = Source.objects.using(using()).filter(tenant=place.tenant, id=source_id)
    found = rows.first()
    if found is None:
        raise Http404
    return found
