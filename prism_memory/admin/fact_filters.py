"""Narrow the facts of a tenant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from prism_memory import access
from prism_memory.admin.content import is_derived
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.using import using
from prism_memory.admin.words import reviewer
from prism_memory.models import FactVersion, GateState, Scope
from prism_memory.models.choices import AcceptanceChoice
from prism_memory.types import Closing
from prism_memory.types.naming import fold

STATES: Final[Mapping[str, tuple[Any, Q]]] = {
    "open": (_("open"), Q(closing=Closing.OPEN, archived_at=None)),
    "gated": (_("quarantined"), Q(record__gate=GateState.QUARANTINED)),
    "waiting": (_("waits to replace another"), Q(pending_supersedes__isnull=False)),
    "superseded": (_("superseded"), Q(closing=Closing.SUPERSEDED)),
    "retracted": (_("retracted"), Q(closing=Closing.RETRACTED)),
    "forgotten": (_("forgotten"), Q(closing=Closing.FORGOTTEN)),
    "archived": (_("archived"), Q(archived_at__isnull=False)),
}


class FactFilter(FilterForm):
    """A search by subject finds what may be read: it must not confirm other words."""

    subject = ExactNameField(label=_("Subject"))
    predicate = ExactNameField(label=_("Predicate, exactly"))
    key = ExactNameField(label=_("Key, exactly"))
    acceptance = choice(_("Acceptance"), AcceptanceChoice.choices)
    state = choice(_("State"), [(name, state[0]) for name, state in STATES.items()])
    exact = {"key": "key", "predicate": "predicate"}

    def __init__(self, wish: Mapping[str, str], *, tenant: str, gated: bool) -> None:
        super().__init__(wish)
        self.tenant = tenant
        self.gated = gated

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        given = self.cleaned_data
        rows = super().narrow(rows)
        if given["state"]:
            rows = rows.filter(STATES[given["state"]][1])
        if given["acceptance"]:
            held = FactVersion.objects.using(using()).filter(
                tenant=self.tenant,
                fact_id=OuterRef("id"),
                recorded_to=None,
                acceptance=given["acceptance"],
            )
            rows = rows.filter(Exists(held))
        if given["subject"]:
            rows = rows.filter(folded_subject=fold(given["subject"]))
        # A key that is made of the words is the words' hash.
        if given["subject"] or given["predicate"] or is_derived(given["key"]):
            rows = self._readable(rows)
        return rows

    def _readable(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        places = Scope.objects.using(using()).filter(
            tenant=self.tenant, id__in=rows.order_by().values("scope_id")
        )
        seen = access.visible_in(
            using=using(),
            reader=reviewer(self.tenant, gated=self.gated),
            scopes=[place.value for place in places],
        )
        return rows.filter(id__in=seen.values("id"))
