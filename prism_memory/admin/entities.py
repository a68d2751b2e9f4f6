"""Whom and what facts speak of. A name shows where a fact that says it may be read."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory import access
from prism_memory.admin import keyset, links
from prism_memory.admin.badges import NOTHING, badge, moment
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import FilterForm, choice
from prism_memory.admin.parts import Place, Section
from prism_memory.admin.scopes import scope_link
from prism_memory.admin.tables import fact_link
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.admin.using import using
from prism_memory.admin.words import may_read_gated, reviewer
from prism_memory.models import Entity, EntityMerge, Mention
from prism_memory.redaction import Redaction

MOST_ROWS: Final = 50


class EntityFilter(FilterForm):
    state = choice(_("State"), [("root", _("on its own")), ("merged", _("merged"))])

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().narrow(rows)
        if state := self.cleaned_data["state"]:
            rows = rows.filter(merged_into__isnull=state == "root")
        return rows


def readable_names(
    tenant: str, entities: Collection[Entity], *, gated: bool
) -> dict[uuid.UUID, str]:
    """Return the names of those that some readable fact says, by id. One query."""
    if not entities:
        return {}
    seen = access.visible_in(
        using=using(),
        reader=reviewer(tenant, gated=gated),
        scopes=[entity.scope.value for entity in entities],
    )
    said = Mention.objects.using(using()).filter(
        tenant=tenant,
        entity_id__in=[entity.id for entity in entities],
        fact_id__in=seen.values("id"),
    )
    known = set(said.values_list("entity_id", flat=True).distinct())
    mask = Redaction.configured().mask
    return {e.id: mask(e.label) for e in entities if e.id in known}


@admin.register(Entity)
class EntitiesAdmin(TenantAdmin):
    """Newest first."""

    order = keyset.Order(("id",), descending=True)
    filters = EntityFilter
    list_display = ("what", "state", "place_in", "made")
    empty = _("No entity here: one appears with the first fact that names it.")
    intro = _("One name, one entity. Those that are the same are merged, and unmerged.")

    def rows(self, place: Place) -> QuerySet[Any]:
        return super().rows(place).select_related("scope").defer("vector")

    def list_context(
        self,
        request: HttpRequest,
        place: Place,
        form: FilterForm,
        window: keyset.Window,
    ) -> dict[str, Any]:
        self._name(request, window.rows)
        return super().list_context(request, place, form, window)

    def _name(self, request: HttpRequest, rows: list[Any]) -> None:
        if not rows:
            return
        gated = may_read_gated(request)
        names = readable_names(rows[0].tenant, rows, gated=gated)
        for row in rows:
            row.shown_name = names.get(row.id, "")

    @admin.display(description=_("Name"))
    def what(self, row: Any) -> object:  # noqa: ANN401 - an Entity, named
        return links.anchor(links.row_page(row), row.shown_name or _("withheld"))

    @admin.display(description=_("State"))
    def state(self, row: Entity) -> object:
        return badge(_("merged"), "warn") if row.merged_into else badge(_("on its own"))

    @admin.display(description=_("Scope"))
    def place_in(self, row: Entity) -> object:
        return scope_link(row.scope)

    @admin.display(description=_("First named"))
    def made(self, row: Entity) -> object:
        return moment(row.created_at)

    def name_of(self, row: Entity) -> str:
        return f"Entity #{row.id.hex[-12:]}"

    def sections(self, request: HttpRequest, row: Any) -> list[Section]:  # noqa: ANN401
        self._name(request, [row])
        into = row.merged_into
        pairs = [
            (_("Name"), shown(row.shown_name) if row.shown_name else _("withheld")),
            (_("State"), self.state(row)),
            (_("Merged into"), entity_link(row.tenant, into) if into else ""),
            (_("Scope"), scope_link(row.scope)),
            (_("First named"), moment(row.created_at)),
            (_("Id"), links.code(row.id)),
        ]
        mentions = _mentions(row, gated=may_read_gated(request))
        return [Section(_("Entity"), pairs), mentions, _merges(row)]


def entity_link(tenant: str, entity_id: uuid.UUID) -> Any:  # noqa: ANN401 - a SafeString
    """Return an entity's id, linked to its page."""
    page = links.page(Entity, "change", f"{entity_id}{links.SEPARATOR}{tenant}")
    return links.anchor(page, links.code(entity_id))


def _mentions(row: Entity, *, gated: bool) -> Section:
    """Return which facts speak of it, of those that may be read."""
    seen = access.visible_in(
        using=using(),
        reader=reviewer(row.tenant, gated=gated),
        scopes=[row.scope.value],
    )
    rows = Mention.objects.using(using()).filter(
        tenant=row.tenant, entity=row.id, fact_id__in=seen.values("id")
    )
    found = list(rows.order_by("fact_id", "role")[: MOST_ROWS + 1])
    return Section(
        _("Facts that speak of it"),
        [
            (fact_link(row.tenant, one.fact_id), one.get_role_display())
            for one in found[:MOST_ROWS]
        ],
        headers=(_("Fact"), _("As")),
        empty=_("None any more."),
        note=_("Only the first 50 are listed.") if len(found) > MOST_ROWS else "",
    )


def _merges(row: Entity) -> Section:
    merges = EntityMerge.objects.using(using()).filter(tenant=row.tenant)
    found = list(merges.filter(entity=row.id).order_by("-id")[:MOST_ROWS])
    found += list(merges.filter(into=row.id).order_by("-id")[:MOST_ROWS])
    return Section(
        _("Merges"),
        [
            (
                entity_link(row.tenant, one.entity_id),
                entity_link(row.tenant, one.into_id),
                NOTHING if one.cosine is None else f"{one.cosine:.3f}",
                shown(one.actor),
                moment(one.at),
                moment(one.undone_at),
            )
            for one in found
        ],
        headers=(_("Entity"), _("Into"), _("Cosine"), _("By"), _("At"), _("Undone")),
        empty=_("It was never merged."),
    )
