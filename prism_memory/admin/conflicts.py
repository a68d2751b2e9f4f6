"""What became of claims that met others. It holds no words; the facts show theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import moment
from prism_memory.admin.characters import shown
from prism_memory.admin.filters import FilterForm, choice
from prism_memory.admin.keyset import Order
from prism_memory.admin.parts import Place, Section
from prism_memory.admin.scopes import scope_link
from prism_memory.admin.tables import (
    conflict_why,
    cosine,
    fact_link,
    others,
    verdict_badges,
)
from prism_memory.admin.tenanted import TenantAdmin
from prism_memory.models import ConflictDecision
from prism_memory.models.choices import ConflictStageChoice, VerdictChoice
from prism_memory.types import Verdict, record_ref

WAITING: Final = Q(verdict=Verdict.PENDING, settled_at=None)
STATES: Final[Mapping[str, tuple[Any, Q]]] = {
    "waiting": (_("waiting"), WAITING),
    "settled": (_("settled"), Q(settled_at__isnull=False)),
}


class ConflictFilter(FilterForm):
    verdict = choice(_("Verdict"), VerdictChoice.choices)
    stage = choice(_("Stage"), ConflictStageChoice.choices)
    state = choice(_("State"), [(name, state[0]) for name, state in STATES.items()])
    exact = {"verdict": "verdict", "stage": "stage"}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().narrow(rows)
        state = self.cleaned_data["state"]
        return rows.filter(STATES[state][1]) if state else rows


@admin.register(ConflictDecision)
class ConflictsAdmin(TenantAdmin):
    """Newest first."""

    order = Order(("id",), descending=True)
    filters = ConflictFilter
    list_display = (
        "what",
        "verdict",
        "why",
        "nearest",
        "met",
        "place_in",
        "by",
        "when",
    )
    empty = _("No claim met another here.")
    intro = _("Whether a new claim stands beside older ones, replaces one or is one.")

    def rows(self, place: Place) -> QuerySet[Any]:
        return super().rows(place).select_related("scope")

    def audit_target(self, row: ConflictDecision) -> str:
        return record_ref(row.fact_id)

    @admin.display(description=_("Fact"))
    def what(self, row: ConflictDecision) -> object:
        return links.anchor(links.row_page(row), links.code(row.fact_id))

    @admin.display(description=_("Verdict"))
    def verdict(self, row: ConflictDecision) -> object:
        return verdict_badges(row)

    @admin.display(description=_("Why"))
    def why(self, row: ConflictDecision) -> object:
        return conflict_why(row)

    @admin.display(description=_("Cosine"))
    def nearest(self, row: ConflictDecision) -> object:
        return cosine(row)

    @admin.display(description=_("Compared with"))
    def met(self, row: ConflictDecision) -> object:
        return len(row.others)

    @admin.display(description=_("Scope"))
    def place_in(self, row: ConflictDecision) -> object:
        return scope_link(row.scope)

    @admin.display(description=_("By"))
    def by(self, row: ConflictDecision) -> object:
        return shown(row.actor)

    @admin.display(description=_("At"))
    def when(self, row: ConflictDecision) -> object:
        return moment(row.at)

    def name_of(self, row: ConflictDecision) -> str:
        return f"{row.get_verdict_display()} #{row.id.hex[-12:]}"

    def sections(self, request: HttpRequest, row: ConflictDecision) -> list[Section]:
        del request
        pairs = [
            (_("Verdict"), verdict_badges(row)),
            (_("Fact that stands"), fact_link(row.tenant, row.fact_id)),
            (_("Compared with"), others(row.tenant, row.others)),
            (_("Why"), conflict_why(row)),
            (_("Cosine of the nearest, raw"), cosine(row)),
            (_("Scope"), scope_link(row.scope)),
            (_("By"), shown(row.actor)),
            (_("At"), moment(row.at)),
        ]
        settled = [
            (_("Settled"), moment(row.settled_at)),
            (_("By"), shown(row.settled_by)),
            (_("Tries of a judge"), row.attempts),
            (_("Next try"), moment(row.next_try_at)),
            (_("Id"), links.code(row.id)),
        ]
        return [Section(_("Decision"), pairs), Section(_("What came of it"), settled)]
