"""Scopes of a tenant, as the tree they form."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, badge, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.erasing import erase_tools, erase_view
from prism_memory.admin.exports import export_tools, export_view
from prism_memory.admin.filters import ExactNameField, FilterForm
from prism_memory.admin.generations import (
    generation_tools,
    generation_view,
    generations_section,
)
from prism_memory.admin.holding import hold_tools, hold_view, holds_section
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section, Tool
from prism_memory.admin.sharing import share_tools, share_view
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.models import AccessKey, Record, Scope, Source

MOST_COUNTED: Final = 1_000
"""Where counting a scope's records stops in a list; a page of it counts further."""
MOST_COUNTED_ALONE: Final = 100_000

LEVELS: Final = (_("tenant"), _("owner"), _("agent"), _("thread"))


def count_records(
    tenant: str, scope_ids: Collection[uuid.UUID], most: int
) -> dict[uuid.UUID, int]:
    """Return each scope's records, ``most + 1`` where there are more. One query."""
    given = {"tenant": tenant, "scope_ids": list(scope_ids), "most": most + 1}
    rows = queries.fetch(using(), named("admin")["count_records"], given)
    return {row["id"]: row["records"] for row in rows}


def names(scope: Scope) -> tuple[str, ...]:
    """Return the names of the levels that are set, without the tenant."""
    return tuple(filter(None, (scope.owner, scope.agent, scope.thread)))


def level(scope: Scope) -> Any:  # noqa: ANN401 - a lazy translation
    """Return which level a scope is of."""
    depth = 3 if scope.thread else 2 if scope.agent else 1 if scope.owner else 0
    return LEVELS[depth]


def scope_path(scope: Scope) -> SafeString:
    """Return a scope's names below its tenant, the last one strong."""
    parts = names(scope)
    if not parts:
        return format_html("<strong>{}</strong>", _("(the tenant's own level)"))
    above = format_html_join(
        "",
        '<span class="pm-above">{}<span class="pm-slash"> / </span></span>',
        ((shown(part),) for part in parts[:-1]),
    )
    return format_html("{}<strong>{}</strong>", above, shown(parts[-1]))


def scope_link(scope: Scope) -> Any:  # noqa: ANN401 - a SafeString
    """Return a scope's path, linked to its page."""
    return links.anchor(links.row_page(scope), scope_path(scope))


def records_of(scope: Scope, **more: object) -> str:
    """Return the address of a scope's records."""
    return links.list_page(Record, tenant=scope.tenant, scope=scope.id, **more)


class ScopeFilter(FilterForm):
    owner = ExactNameField(label=_("Owner, exactly"))
    agent = ExactNameField(label=_("Agent, exactly"))
    thread = ExactNameField(label=_("Thread, exactly"))
    exact = {"owner": "owner", "agent": "agent", "thread": "thread"}


@admin.register(Scope)
class ScopesAdmin(TenantAdmin):
    """The tree tenant > owner > agent > thread, in its own order."""

    order = Order(("owner", "agent", "thread"))
    filters = ScopeFilter
    list_display = ("path", "level", "records", "vectors", "created")
    empty = _("No scope here: one appears with the first thing remembered in it.")
    intro = _("Every place that holds memory, each below the one it belongs to.")

    def prepare(self, place: Place, rows: list[Any]) -> None:
        ids = [row.id for row in rows]
        counts = count_records(place.tenant or "", ids, MOST_COUNTED) if ids else {}
        for row in rows:
            row.records = counts.get(row.id, 0)

    @admin.display(description=_("Scope"))
    def path(self, row: Scope) -> object:
        depth = len(names(row))
        return format_html(
            '<span class="pm-depth-{}">{}</span>', depth, scope_link(row)
        )

    @admin.display(description=_("Level"))
    def level(self, row: Scope) -> object:
        return badge(level(row))

    @admin.display(description=_("Records"))
    def records(self, row: Any) -> object:  # noqa: ANN401 - a Scope with its count
        label = number(row.records, most=MOST_COUNTED)
        return links.anchor(records_of(row), label) if row.records else label

    @admin.display(description=_("Vectors, about"))
    def vectors(self, row: Scope) -> object:
        return number(row.vectors)

    @admin.display(description=_("First used"))
    def created(self, row: Scope) -> object:
        return moment(row.created_at)

    def name_of(self, row: Scope) -> str:
        return " / ".join(names(row)) or str(_("the tenant's own level"))

    def row_tools(self, request: HttpRequest, row: Scope) -> list[Tool]:
        return [
            Tool(_("Records"), records_of(row)),
            *share_tools(request, row),
            *hold_tools(request, row),
            *generation_tools(request, row),
            *export_tools(request, row),
            *erase_tools(request, row),
        ]

    def more_urls(self) -> list[URLPattern]:
        return [
            self.route("<path:object_id>/export/", self.export_view, "export"),
            self.route("<path:object_id>/erase/", self.erase_view, "erase"),
            self.route("<path:object_id>/hold/", self.hold_view, "hold"),
            self.route("<path:object_id>/share/", self.share_view, "share"),
            self.route(
                "<path:object_id>/generation/", self.generation_view, "generation"
            ),
        ]

    def erase_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then have a scope erased with all below it."""
        return erase_view(self, request, self.object_or_404(request, object_id))

    def hold_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask what for and why, then hold a scope with all below it."""
        return hold_view(self, request, self.object_or_404(request, object_id))

    def share_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask which, with whom and why, then share records of a thread."""
        return share_view(self, request, self.object_or_404(request, object_id))

    def generation_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask which and why, then choose the generation that is seen."""
        return generation_view(self, request, self.object_or_404(request, object_id))

    def export_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask, then have all at and below a scope exported."""
        return export_view(self, request, self.object_or_404(request, object_id))

    def sections(self, request: HttpRequest, row: Scope) -> list[Section]:
        counted = count_records(row.tenant, [row.id], MOST_COUNTED_ALONE)[row.id]
        pairs = [
            (label, shown(value) if value else NOTHING)
            for label, value in zip(LEVELS, _values(row), strict=True)
        ]
        return [
            Section(_("Scope"), [*pairs, (_("Id"), links.code(row.id))]),
            Section(
                _("What it holds"),
                [
                    (
                        _("Records"),
                        links.anchor(
                            records_of(row), number(counted, most=MOST_COUNTED_ALONE)
                        ),
                    ),
                    (_("Vectors, about"), number(row.vectors)),
                    (_("Generation"), row.current_generation),
                    (_("First used"), moment(row.created_at)),
                ],
            ),
            Section(_("Around it"), _around(request, row)),
            *generations_section(row),
            *holds_section(request, row),
        ]


def _values(row: Scope) -> tuple[str, ...]:
    return (row.tenant, row.owner, row.agent, row.thread)


def _around(request: HttpRequest, row: Scope) -> list[tuple[object, object]]:
    below = {
        name: value
        for name, value in (("owner", row.owner), ("agent", row.agent))
        if value
    }
    pages = (
        (
            _("Scopes at and below it"),
            links.list_page(Scope, tenant=row.tenant, **below),
        ),
        (_("Sources"), links.list_page(Source, tenant=row.tenant, scope=row.id)),
    )
    pairs: list[tuple[object, object]] = [
        (label, links.anchor(address, _("open")))
        for label, address in pages
        if links.leads(address)
    ]
    if request.user.has_perm("prism_memory.add_accesskey"):
        wish = {"tenant": row.tenant, **below}
        wish |= {"thread": row.thread} if row.thread else {}
        address = links.page(AccessKey, "add") + "?" + urlencode(wish)
        pairs.append((_("A key for it"), links.anchor(address, _("create"))))
    return pairs
