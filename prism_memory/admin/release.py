"""End what a forgetting hid for a hold: forget for good, or show again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, Told, ask
from prism_memory.admin.forget import records_beside, went
from prism_memory.admin.holding import over
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.using import using
from prism_memory.errors import LimitExceeded
from prism_memory.lifecycle.tombstones import closure
from prism_memory.models import Record, Tombstone
from prism_memory.types import TombstoneReason, record_ids, record_ref

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin

FORGET: Final = Ask(
    _("Forget this record for good?"),
    _("Forget for good"),
    about=_(
        "Its body was kept by a forgetting. It is deleted from this database now; this"
        " cannot be undone."
    ),
    danger=True,
)
SHOW: Final = Ask(
    _("Show this record again?"),
    _("Show again"),
    about=_(
        "It was hidden and kept by a forgetting, which ends. It is recalled, listed and"
        " exported again, unless something else withholds it."
    ),
)


class ReleaseForm(forms.Form):
    restore = forms.TypedChoiceField(
        choices=[("1", _("show again")), ("0", _("forget"))],
        coerce=lambda value: value == "1",
        widget=forms.HiddenInput,
    )
    reason = ReasonField()


def may_release(request: HttpRequest, *, restore: bool) -> bool:
    """Tell whether somebody may end it so.

    As forgetting. To show shows the words to all who may look, as to grant consent.
    """
    user = request.user
    shows = not restore or user.has_perm("prism_memory.reveal_record")
    return bool(user.has_perm("prism_memory.delete_record") and shows)


def hiders(record: Record) -> list[str]:
    """Return the refs whose forgetting hides a record and keeps it. One query."""
    rows = Tombstone.objects.using(using()).filter(
        tenant=record.tenant,
        target_ref=record_ref(record.id),
        reason=TombstoneReason.LEGAL_HOLD.value,
        cleared_at=None,
    )
    return sorted(rows.values_list("root_ref", flat=True))


def kept_by(record: Record, roots: list[str]) -> object:
    """Return in words that a forgetting hides and keeps a record."""
    if not roots:
        return ""
    if record_ref(record.id) in roots:
        return _("It was forgotten, and is hidden and kept until that is released.")
    words = _("It is hidden and kept: what it derives from was forgotten so.")
    return format_html("{} {}", words, links.ref_link(record.tenant, roots[0]))


def release_tools(request: HttpRequest, record: Record, roots: list[str]) -> list[Tool]:
    """Return the two ways out, for who may."""
    if record_ref(record.id) not in roots:
        return []
    address = links.row_page(record, "release")
    ways = ((False, _("Release: forget for good")), (True, _("Release: show again")))
    return [
        Tool(label, links.with_wish(address, {"restore": f"{restore:d}"}))
        for restore, label in ways
        if may_release(request, restore=restore)
    ]


def release_view(
    page: RecordsAdmin, request: HttpRequest, record: Record
) -> HttpResponse:
    """Show the effect and a form, or do it."""
    wished = request.POST.get("restore", request.GET.get("restore"))
    if wished not in {"0", "1"}:
        raise Http404
    restore = wished == "1"
    if not may_release(request, restore=restore):
        raise PermissionDenied
    if record_ref(record.id) not in hiders(record):
        messages.error(request, _("No forgetting keeps it."))
        return HttpResponseRedirect(links.row_page(record))
    form = ReleaseForm(request.POST or None, initial={"restore": wished})
    effect, refused = _shows(record) if restore else _forgets(record)
    if request.method == "POST" and form.is_valid() and not refused:
        return _release(request, record, form)
    words = replace(SHOW if restore else FORGET, effect=[effect], refused=refused)
    return ask(page, request, record, form, words)


def _shows(record: Record) -> tuple[str, bool]:
    root = record_ref(record.id)
    rows = Tombstone.objects.using(using()).filter(
        tenant=record.tenant,
        root_ref=root,
        reason=TombstoneReason.LEGAL_HOLD.value,
        cleared_at=None,
    )
    count = rows.exclude(target_ref=root).count()
    text = ngettext(
        "This also ends it for %(count)s record derived from it.",
        "This also ends it for %(count)s records derived from it.",
        count,
    )
    return text % {"count": count}, False


def _forgets(record: Record) -> tuple[str, bool]:
    """Return what goes, or why it cannot."""
    roots = [record_ref(record.id)]
    if hiders(record) != roots or over(record).exists():
        words = _("Another hold keeps it: release that one first.")
        return str(words), True
    try:
        refs = closure(using=using(), tenant=record.tenant, roots=roots)
    except LimitExceeded as error:
        return f"{error} {_('So it cannot be forgotten here; erase it.')}", True
    count = len(record_ids(refs)) - 1
    text = ngettext(
        "This also deletes %(count)s record derived from it, unless a hold keeps it.",
        "This also deletes %(count)s records derived from it, unless holds keep them.",
        count,
    )
    return text % {"count": count}, False


def _release(request: HttpRequest, record: Record, form: ReleaseForm) -> HttpResponse:
    restore = form.cleaned_data["restore"]
    with Told(request) as told:
        done = lifecycle.release_forgotten(
            using=using(),
            scope=record.scope.value,
            actor=actor(request),
            ids=[record.id],
            at=timezone.now(),
            restore=restore,
            reason=form.cleaned_data["reason"],
        )
    if told.refused or restore:
        if not told.refused:
            messages.success(request, _("It is released, and no longer hidden by it."))
        return HttpResponseRedirect(links.row_page(record))
    messages.success(request, went(done))
    return HttpResponseRedirect(records_beside(record))
