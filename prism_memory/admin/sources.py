"""What records come from: documents and streams."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from functools import partial
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import Tone, badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.chunks import chunks_section
from prism_memory.admin.erasing import erase_tools, erase_view
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.holding import hold_tools, hold_view, holds_section
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.scopes import (
    MOST_COUNTED,
    MOST_COUNTED_ALONE,
    records_of,
    scope_link,
)
from prism_memory.admin.source_deeds import DEEDS, deed_view, source_tools
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.models import IngestionState, Source, SourceState
from prism_memory.models.choices import TrustClass
from prism_memory.types import SourceKind

TONES: dict[str, Tone] = {
    IngestionState.PENDING: "quiet",
    IngestionState.INDEXED: "good",
    IngestionState.PARTIAL: "warn",
    IngestionState.FAILED: "bad",
}


def count_records(
    tenant: str, source_ids: Collection[uuid.UUID], most: int
) -> dict[uuid.UUID, int]:
    """Return each source's records, ``most + 1`` where there are more. One query."""
    given = {"tenant": tenant, "source_ids": list(source_ids), "most": most + 1}
    sql = named("admin")["count_records_of_sources"]
    return {row["id"]: row["records"] for row in queries.fetch(using(), sql, given)}


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
        "records",
        "made",
    )
    empty = _("No source here.")
    intro = _("Documents, and streams such as one session of a conversation.")

    def rows(self, place: Place) -> QuerySet[Any]:
        return super().rows(place).select_related("scope")

    def prepare(self, place: Place, rows: list[Any]) -> None:
        ids = [row.id for row in rows]
        counts = count_records(place.tenant or "", ids, MOST_COUNTED) if ids else {}
        for row in rows:
            row.records = counts.get(row.id, 0)

    @admin.display(description=_("Key"))
    def name(self, row: Source) -> object:
        return links.anchor(links.row_page(row), row.key)

    @admin.display(description=_("Scope"))
    def place_in(self, row: Source) -> object:
        return scope_link(row.scope)

    @admin.display(description=_("Trust"))
    def trusted(self, row: Source) -> object:
        return badge(row.get_trust_display())

    # A stream such as a session of two people has records of more than one writer.
    @admin.display(description=_("First writer"))
    def by(self, row: Source) -> object:
        return shown(row.writer)

    @admin.display(description=_("Ingestion"))
    def states(self, row: Source) -> object:
        return state_badges(row)

    @admin.display(description=_("Records"))
    def records(self, row: Any) -> object:  # noqa: ANN401 - a Source with its count
        label = number(row.records, most=MOST_COUNTED)
        address = records_of(row.scope, source=row.id)
        return links.anchor(address, label) if row.records else label

    @admin.display(description=_("First seen"))
    def made(self, row: Source) -> object:
        return moment(row.created_at)

    def name_of(self, row: Source) -> str:
        return row.key

    def row_tools(self, request: HttpRequest, row: Source) -> list[Tool]:
        records = Tool(_("Its records"), records_of(row.scope, source=row.id))
        return [
            records,
            *source_tools(request, row),
            *hold_tools(request, row),
            *erase_tools(request, row),
            Tool(_("Audit"), links.audit_of(row.tenant, f"source:{row.id}")),
        ]

    def more_urls(self) -> list[URLPattern]:
        return [
            self.route("<path:object_id>/erase/", self.erase_view, "erase"),
            self.route("<path:object_id>/hold/", self.hold_view, "hold"),
            *(
                self.route(
                    f"<path:object_id>/{name}/", partial(self.deed_view, name), name
                )
                for name in DEEDS
            ),
        ]

    def deed_view(
        self, name: str, request: HttpRequest, object_id: str
    ) -> HttpResponse:
        """Say what follows, ask why, then retire, bring back or delete."""
        row = self.object_or_404(request, object_id)
        return deed_view(self, request, row, name)

    def hold_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask what for and why, then hold a source with its records."""
        return hold_view(self, request, self.object_or_404(request, object_id))

    def erase_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then erase a source with its records."""
        return erase_view(self, request, self.object_or_404(request, object_id))

    def sections(self, request: HttpRequest, row: Source) -> list[Section]:
        counted = count_records(row.tenant, [row.id], MOST_COUNTED_ALONE)[row.id]
        what = [
            (_("Key"), shown(row.key)),
            (_("Kind"), badge(row.get_kind_display())),
            (_("Address"), shown(row.uri)),
            (_("Scope"), scope_link(row.scope)),
            (_("Trust"), badge(row.get_trust_display())),
            (_("First writer"), shown(row.writer)),
            (_("Id"), links.code(row.id)),
        ]
        ingestion = [
            (_("State"), state_badges(row)),
            (_("Bytes"), number(row.bytes)),
            (_("Records"), number(counted, most=MOST_COUNTED_ALONE)),
            (_("SHA-256"), links.code(bytes(row.sha256).hex()) if row.sha256 else ""),
            (_("Error"), shown(row.error)),
            (_("First seen"), moment(row.created_at)),
            *_of_document(row),
        ]
        return [
            Section(_("Source"), what),
            Section(_("Ingestion"), ingestion),
            *chunks_section(request, row),
            *holds_section(request, row),
        ]


def state_badges(row: Source) -> object:
    """Return how far a source's ingestion is, or that it is retired."""
    if row.state == SourceState.RETIRED:
        return badge(_("retired"), "quiet")
    return badge(row.get_ingestion_display(), TONES[row.ingestion])


def _of_document(row: Source) -> list[tuple[object, object]]:
    """Return what only a document has: how it was cut, and when it changed."""
    if row.kind != SourceKind.DOCUMENT:
        return []
    return [
        (_("Chunks in force"), number(row.chunks)),
        (_("Cut by"), shown(row.chunker)),
        (_("Language"), shown(row.language)),
        (_("Title"), shown(str(row.metadata.get("title", "")))),
        (_("File"), shown(str(row.metadata.get("file", "")))),
        (_("Last changed"), moment(row.ingested_at)),
        (_("Retired"), moment(row.retired_at)),
    ]
