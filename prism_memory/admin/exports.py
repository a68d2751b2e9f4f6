"""Export a scope, and remove the files of an export: first the effect, then it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, ReasonForm, Told, ask
from prism_memory.admin.characters import shown
from prism_memory.admin.parts import Section, Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.using import using
from prism_memory.governance import export_removal, exports
from prism_memory.governance.export_state import KIND
from prism_memory.models import Run, Scope

if TYPE_CHECKING:
    from prism_memory.admin.runs import RunsAdmin
    from prism_memory.admin.scopes import ScopesAdmin

MOST_COUNTED: Final = 1_000

REMOVE: Final = Ask(
    _("Remove the files of this export?"),
    _("Remove"),
    about=_("The memories themselves stay. This cannot be undone."),
    danger=True,
)


class ExportForm(forms.Form):
    include_unconsented = forms.BooleanField(
        required=False,
        label=_("Also what no consent was given for"),
        help_text=_("The data subject's legal copy. The audit says so."),
    )
    compress = forms.BooleanField(required=False, label=_("Write gzip"))
    reason = ReasonField()


def may_export(request: HttpRequest) -> bool:
    """Tell whether somebody may have words copied to files."""
    return bool(request.user.has_perm("prism_memory.add_run"))


def may_delete(request: HttpRequest) -> bool:
    """Tell whether somebody may remove them."""
    return bool(request.user.has_perm("prism_memory.delete_run"))


def export_tools(request: HttpRequest, row: Scope) -> list[Tool]:
    """Return the button of a scope."""
    if not may_export(request):
        return []
    return [Tool(_("Export"), links.row_page(row, "export"))]


def export_view(page: ScopesAdmin, request: HttpRequest, row: Scope) -> HttpResponse:
    """Say what is exported, ask why, then begin."""
    if not may_export(request):
        raise PermissionDenied
    form = ExportForm(request.POST or None)
    wide = request.user.has_perm("prism_memory.reveal_record")
    if not wide:
        del form.fields["include_unconsented"]
    if request.method == "POST" and form.is_valid():
        return _start(request, row, form)
    context = page.row_context(request, row) | {"form": form, "effect": _effect(row)}
    return page.answer(request, "admin/prism_memory/export.html", context)


def _effect(row: Scope) -> str:
    rows = Scope.objects.using(using()).below(row.value)
    count = rows[: MOST_COUNTED + 1].count()
    if count > MOST_COUNTED:
        return str(_("This covers more than 1,000 scopes."))
    text = ngettext(
        "This covers %(count)s scope.", "This covers %(count)s scopes.", count
    )
    return text % {"count": count}


def _start(request: HttpRequest, row: Scope, form: forms.Form) -> HttpResponse:
    with Told(request) as told:
        state = exports.start_export(
            using=using(),
            scope=row.value,
            actor=actor(request),
            at=timezone.now(),
            **form.cleaned_data,
        )
    if told.refused:
        return HttpResponseRedirect(links.row_page(row))
    messages.success(request, _("A worker writes it; this page tells how far it is."))
    return HttpResponseRedirect(links.row_page(Run(id=state.id, tenant=row.tenant)))


def has_files(row: Run) -> bool:
    """Tell whether a run is an export whose files are not removed."""
    return row.kind == KIND and not row.cursor.get("deleted")


def run_tools(request: HttpRequest, row: Run) -> list[Tool]:
    """Return the button of an export's run."""
    if not (has_files(row) and may_delete(request)):
        return []
    return [Tool(_("Remove its files"), links.row_page(row, "delete_export"))]


def delete_view(page: RunsAdmin, request: HttpRequest, row: Run) -> HttpResponse:
    """Say what is removed, ask why, then do it."""
    if not may_delete(request):
        raise PermissionDenied
    if not has_files(row):
        raise Http404
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _delete(request, row, form.cleaned_data["reason"])
    return ask(page, request, row, form, replace(REMOVE, effect=_removes(row)))


def _removes(row: Run) -> list[object]:
    """Return in words what goes with the files of an export."""
    count = len(row.cursor.get("parts", ()))
    text = ngettext(
        "This removes %(count)s part.", "This removes %(count)s parts.", count
    )
    told: list[object] = [text % {"count": count}]
    running = row.finished_at is None
    return [_("It still runs, and ends with that."), *told] if running else told


def _delete(request: HttpRequest, row: Run, reason: str) -> HttpResponse:
    with Told(request) as told:
        export_removal.delete_run(
            using=using(),
            tenant=row.tenant,
            actor=actor(request),
            run_id=row.id,
            at=timezone.now(),
            reason=reason,
        )
    if not told.refused:
        messages.success(request, _("Its files are removed."))
    return HttpResponseRedirect(links.row_page(row))


def run_sections(row: Run) -> list[Section]:
    """Return what a run's page shows of an export: files, and no word of them."""
    if row.kind != KIND:
        return []
    state = exports.state_of(row)
    options: list[tuple[Any, Any]] = [
        (_("Holds what no consent was given for"), _yes(state.include_unconsented)),
        (_("Files were removed"), _yes(state.deleted)),
    ]
    parts = [
        (
            shown(part.name.rpartition("/")[2]),
            f"{part.records:,}",
            f"{part.bytes:,}",
            links.code(part.sha256),
        )
        for part in state.parts
    ]
    return [
        Section(_("Export"), options),
        Section(
            _("Files"),
            parts,
            headers=(_("File"), _("Records"), _("Bytes"), _("SHA-256")),
            empty=_("They were removed.")
            if state.deleted
            else _("There are none, or not yet."),
        ),
    ]


def _yes(value: bool) -> object:
    return _("yes") if value else _("no")
