"""Show a scope's generations, and let a person choose the one that is seen."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, Told, ask
from prism_memory.admin.badges import NOTHING, badge, number
from prism_memory.admin.parts import Section, Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.using import using
from prism_memory.lifecycle.generations import generations
from prism_memory.models import Scope
from prism_memory.types import MAX_GENERATION, Generations

RIGHT: Final = "prism_memory.change_scope"
ABOUT: Final = _(
    "Readers see this generation and no other, from one moment to the next. Nothing is"
    " deleted: choosing the one before rolls back."
)


class GenerationForm(forms.Form):
    generation = forms.IntegerField(
        label=_("Generation"),
        required=False,
        min_value=0,
        max_value=MAX_GENERATION,
        help_text=_("Empty: all of them, as before one was ever chosen."),
    )
    reason = ReasonField()


def generation_tools(request: HttpRequest, row: Scope) -> list[Tool]:
    """Return the button, for who may, where there is something to choose."""
    found = generations(using=using(), scope=row.value)
    if not request.user.has_perm(RIGHT) or found == Generations():
        return []
    return [Tool(_("Choose generation"), links.row_page(row, "generation"))]


def generations_section(row: Scope) -> list[Section]:
    """Return a scope's generations, if it has any."""
    found = generations(using=using(), scope=row.value)
    if found == Generations():
        return []
    chosen = set() if found.current is None else {found.current}
    rows = [
        (
            str(one),
            number(found.records.get(one, 0)),
            badge(_("seen")) if found.current in (one, None) else NOTHING,
        )
        for one in sorted({*found.records} | chosen)
    ]
    headers = (_("Generation"), _("Records"), _("Readers"))
    return [Section(_("Generations of its documents"), rows, headers=headers)]


def generation_view(
    page: ReadOnlyAdmin, request: HttpRequest, row: Scope
) -> HttpResponse:
    """Ask which and why, or swap."""
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    first = {"generation": row.current_generation}
    form = GenerationForm(request.POST or None, initial=first)
    if request.method == "POST" and form.is_valid():
        return _swap(request, row, form.cleaned_data)
    question, label = _("Which generation shall be seen?"), _("Choose generation")
    return ask(page, request, row, form, Ask(question, label, about=ABOUT))


def _swap(request: HttpRequest, row: Scope, given: dict[str, Any]) -> HttpResponse:
    with Told(request) as told:
        lifecycle.set_current_generation(
            using=using(),
            scope=row.value,
            actor=actor(request),
            at=timezone.now(),
            **given,
        )
    if not told.refused:
        messages.success(request, _("Readers see that generation now."))
    return HttpResponseRedirect(links.row_page(row))
