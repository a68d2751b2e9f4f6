"""What records come from: documents and streams."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import Tone, badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.scopes import records_of, scope_link
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.models import IngestionState, Source, SourceState
from prism_memory.models.choices import TrustClass

TONES: dict[str, Tone] = {
    IngestionState.PENDING: "quiet",
    IngestionState.INDEXED: "good",
    IngestionState.PARTIAL: "warn",
    IngestionState.FAILED: "bad",
}


class SourceFilter(FilterForm):
    key = ExactNameField(label=_("Key, exactly"))
    trust = choice(_("Trust"), TrustClass.choices)
    ingestion = choice(_("Ingestion"), IngestionState.choices)
    state = choice(_("State"), SourceState.choices)
    scope = forms.UUIDField(required=False, widget=forms.HiddenInput)
    exact = {
        "key": "key",
        "trust": "trust",
        "ingestion": "ingestion",
        "state": "state",
        "scope": "scope",
    }


@admin.register(Source)
class SourcesAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("id",), descending=True)
    filters = SourceFilter
    list_display = (
        "name",
        "place_in",
        "trusted",
        "by",
        "states",
        "size",
        "made",
    )
    empty = _("No source here.")
    intro = _("Documents, and streams such as one session of a conversation.")

    def rows(self, place: Place) -> QuerySet[Any]:
        return super().rows(place).select_related("scope")

    @admin.display(description=_("Key"))
    def name(self, row: Source) -> object:
        return links.anchor(links.row_page(row), row.key)

    @admin.display(description=_("Scope"))
    def place_in(self, row: Source) -> object:
        return scope_link(row.scope)

    @admin.display(description=_("Trust"))
    def trusted(self, row: Source) -> object:
        return badge(row.get_trust_display())

    @admin.display(description=_("Writer"))
    def by(self, row: Source) -> object:
        return shown(row.writer)

    @admin.display(description=_("Ingestion"))
    def states(self, row: Source) -> object:
        return state_badges(row)

    @admin.display(description=_("Chunks"))
    def size(self, row: Source) -> object:
        return number(row.chunks)

    @admin.display(description=_("First seen"))
    def made(self, row: Source) -> object:
        return moment(row.created_at)

    def name_of(self, row: Source) -> str:
        return row.key

    def row_tools(self, request: HttpRequest, row: Source) -> list[Tool]:
        del request
        return [Tool(_("Its records"), records_of(row.scope, source=row.id))]

    def sections(self, request: HttpRequest, row: Source) -> list[Section]:
        del request
        what = [
            (_("Key"), shown(row.key)),
            (_("Address"), shown(row.uri)),
            (_("Scope"), scope_link(row.scope)),
            (_("Trust"), badge(row.get_trust_display())),
            (_("Writer"), shown(row.writer)),
            (_("Id"), links.code(row.id)),
        ]
        ingestion = [
            (_("State"), state_badges(row)),
            (_("Bytes"), number(row.bytes)),
            (_("Chunks"), number(row.chunks)),
            (_("SHA-256"), links.code(bytes(row.sha256).hex()) if row.sha256 else ""),
            (_("Error"), shown(row.error)),
            (_("First seen"), moment(row.created_at)),
        ]
        return [Section(_("Source"), what), Section(_("Ingestion"), ingestion)]


def state_badges(row: Source) -> object:
    """Return how far a source's ingestion is, or that it is retired."""
    if row.state == SourceState.RETIRED:
        return badge(_("retired"), "quiet")
    return badge(row.get_ingestion_display(), TONES[row.ingestion])
