"""Erase a scope or a source: first the effect, then the name typed, then it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.asking import ReasonField
from prism_memory.admin.badges import number
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.using import using
from prism_memory.errors import Conflict, Misconfigured, Unsupported
from prism_memory.governance import erasure
from prism_memory.models import ErasureReceipt, Run, Scope, Source
from prism_memory.types import Foreseen

GOES: Final[dict[str, Callable[[int], str]]] = {
    "records": lambda count: ngettext("record", "records", count),
    "vectors": lambda count: ngettext("vector", "vectors", count),
    "sources": lambda count: ngettext("source", "sources", count),
    "scopes": lambda count: ngettext("scope", "scopes", count),
    "shares": lambda count: ngettext("share", "shares", count),
    "keys": lambda count: ngettext("access key", "access keys", count),
    "traces": lambda count: ngettext("trace of a recall", "traces of recalls", count),
    "exports": lambda count: ngettext("export", "exports", count),
}


class EraseForm(forms.Form):
    name = forms.CharField(strip=False, widget=forms.TextInput(attrs={"size": 60}))
    reason = ReasonField()

    def __init__(self, given: QueryDict | None, wanted: str) -> None:
        super().__init__(given)
        self.wanted = wanted
        self.fields["name"].label = _("Type its name to confirm: %s") % wanted

    def clean_name(self) -> str:
        """Return the name that was typed.

        Raises:
            ValidationError: It is another.
        """
        name: str = self.cleaned_data["name"]
        if name != self.wanted:
            message = _("That is not its name.")
            raise ValidationError(message)
        return name


def may_erase(request: HttpRequest) -> bool:
    """Tell whether somebody may delete for good."""
    return bool(request.user.has_perm("prism_memory.delete_record"))


def erase_tools(request: HttpRequest, row: Scope | Source) -> list[Tool]:
    """Return the button of a scope or a source."""
    if not may_erase(request):
        return []
    return [Tool(_("Erase"), links.row_page(row, "erase"))]


def erase_view(
    page: ReadOnlyAdmin, request: HttpRequest, row: Scope | Source
) -> HttpResponse:
    """Say what goes and what is kept, ask why, then erase."""
    if not may_erase(request):
        raise PermissionDenied
    form = EraseForm(request.POST or None, _name(row))
    if request.method == "POST" and form.is_valid():
        return _erase(request, row, form.cleaned_data["reason"])
    context = page.row_context(request, row) | {"form": form, "effect": effect_of(row)}
    return page.answer(request, "admin/prism_memory/erase.html", context)


def _target(row: Scope | Source) -> dict[str, Any]:
    if isinstance(row, Source):
        return {"scope": row.scope.value, "source_key": row.key}
    return {"scope": row.value}


def _name(row: Scope | Source) -> str:
    if isinstance(row, Source):
        return row.key
    return str(row.thread or row.agent or row.owner or row.tenant)


def effect_of(row: Scope | Source) -> list[object]:
    """Return in words what goes with a scope or a source, and what is kept."""
    return _effect(erasure.foresee(using=using(), **_target(row)))


def _effect(seen: Foreseen) -> list[object]:
    told = ", ".join(_goes(name, count) for name, count in seen.totals.items())
    lines = [_("Gone for good: %s.") % (told or _("nothing"))]
    if seen.derived:
        text = ngettext(
            "%s of the records is no part of it: it derives from what goes.",
            "%s of the records are no part of it: they derive from what goes.",
            seen.derived,
        )
        lines.append(text % number(seen.derived))
    if kept := seen.kept.get("records", 0) + seen.kept.get("derived", 0):
        text = ngettext("Holds keep %s record.", "Holds keep %s records.", kept)
        lines.append(text % number(kept))
    return list(lines)


def _goes(name: str, count: int) -> str:
    return f"{number(count)} {GOES[name](count)}"


def _erase(request: HttpRequest, row: Scope | Source, reason: str) -> HttpResponse:
    given: dict[str, Any] = {
        "using": using(),
        "actor": actor(request),
        "at": timezone.now(),
    }
    back = links.list_page(type(row), tenant=row.tenant)
    try:
        if isinstance(row, Scope):
            state = erasure.start_erasure(**_target(row), **given, reason=reason)
            run = Run(id=state.id, tenant=row.tenant)
            told = _("A worker erases it; this page tells how far it is.")
            messages.success(request, told)
            return HttpResponseRedirect(links.row_page(run))
        done = erasure.erase(**_target(row), **given, reason=reason)
    except (Conflict, Misconfigured, Unsupported) as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(back)
    messages.success(request, _("It is erased; this is the receipt."))
    receipt = ErasureReceipt(id=done.id, tenant=row.tenant)
    return HttpResponseRedirect(links.row_page(receipt))
