"""Narrow and search the records of one scope."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any, Final

from django import forms
from django.contrib.postgres.search import SearchQuery
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory import access
from prism_memory.admin.content import is_derived, loaded, reader
from prism_memory.admin.filters import ExactNameField, FilterForm, choice
from prism_memory.admin.using import using
from prism_memory.conf import settings
from prism_memory.db.expressions import SCOPE_MARK
from prism_memory.models import GateState, Scope
from prism_memory.models.choices import KindChoice, TrustClass
from prism_memory.recall.candidates import search_languages

CONSENTS: Final = {
    "granted": Q(visible=True, revoked_at=None),
    "none": Q(visible=None, revoked_at=None),
    "hidden": Q(visible=False, revoked_at=None),
    "revoked": Q(revoked_at__isnull=False),
}


class ScopeMark(SearchQuery):
    """The lexeme that names a scope. No parser lets it through, so it is cast."""

    template = "(%(expressions)s)::tsquery"


class RecordFilter(FilterForm):
    """Searching looks at visible words alone: it must not confirm withheld ones."""

    q = forms.CharField(
        label=_("Search in the visible words"),
        required=False,
        widget=forms.TextInput(attrs={"type": "search"}),
    )
    key = ExactNameField(label=_("Key, exactly"))
    kind = choice(_("Kind"), KindChoice.choices)
    trust = choice(_("Trust"), TrustClass.choices)
    gate = choice(_("Gate"), GateState.choices)
    consent = choice(
        _("Consent"),
        [
            ("granted", _("granted")),
            ("none", _("none given")),
            ("hidden", _("hidden")),
            ("revoked", _("revoked")),
        ],
    )
    state = choice(_("State"), [("visible", _("visible")), ("withheld", _("withheld"))])
    source = forms.UUIDField(required=False, widget=forms.HiddenInput)
    exact = {
        "key": "key",
        "kind": "kind",
        "trust": "trust",
        "gate": "gate",
        "source": "source",
    }

    def __init__(self, wish: Mapping[str, str], *, scope: Scope | None) -> None:
        super().__init__(wish)
        self.scope = scope
        self.fields["q"].widget.attrs["maxlength"] = settings.QUERY_CHARACTERS

    def clean_q(self) -> str:
        words: str = self.cleaned_data["q"]
        if len(words) > settings.QUERY_CHARACTERS:
            message = _("A search is at most %(most)s characters long.")
            raise forms.ValidationError(
                message, params={"most": settings.QUERY_CHARACTERS}
            )
        return words

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        given = self.cleaned_data
        if self.scope is None or (given["q"] and given["state"] == "withheld"):
            return rows.none()
        seen = access.visible(
            using=using(), reader=reader(self.scope, at=timezone.now())
        )
        if given["state"] == "withheld":
            rows = rows.exclude(id__in=seen.values("id"))
        if given["q"] or given["state"] == "visible":
            rows = loaded(seen)
        elif is_derived(given["key"]):
            # Such a key is the text's hash, so finding it would confirm a guess.
            rows = rows.filter(id__in=seen.values("id"))
        if given["consent"]:
            rows = rows.filter(CONSENTS[given["consent"]])
        if given["q"]:
            rows = _matching(rows, self.scope, given["q"])
        return super().narrow(rows)


def _matching(rows: QuerySet[Any], scope: Scope, words: str) -> QuerySet[Any]:
    """Return the rows with these words, read as a web search in each language.

    The scope's own lexeme lets the text index narrow to the scope.
    """
    queries = (
        SearchQuery(words, config=language, search_type="websearch")
        for language in search_languages()
    )
    mark = ScopeMark(f"'{SCOPE_MARK}{scope.id}'")
    return rows.filter(search=mark).filter(search=reduce(or_, queries))
