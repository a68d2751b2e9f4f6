"""Forget one record: first the effect, then the deed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, Told, ask
from prism_memory.admin.holding import hold_tools, in_force
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.using import using
from prism_memory.errors import LimitExceeded
from prism_memory.lifecycle.evidence import loss_of_forgetting
from prism_memory.lifecycle.governed import is_held
from prism_memory.lifecycle.removal import held_records
from prism_memory.models import LegalHold, Record
from prism_memory.types import Forgotten, record_ids, record_ref

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin

ABOUT: Final = _(
    "Its body is deleted from this database. This cannot be undone, and what was shown"
    " before cannot be taken back."
)


class ForgetForm(forms.Form):
    hold = forms.BooleanField(
        label=_("Keep the body for a legal hold, and only hide it"), required=False
    )
    reason = ReasonField()


def may_forget(request: HttpRequest) -> bool:
    """Tell whether somebody may delete records."""
    return bool(request.user.has_perm("prism_memory.delete_record"))


def forget_tools(request: HttpRequest, record: Record) -> list[Tool]:
    """Return the buttons, for who may."""
    tools = []
    ref = record_ref(record.id)
    may_look = links.may_view(request.user, LegalHold)
    if may_look and in_force(record).exists():
        wish = links.tenant_wish(record.tenant) | {"target": ref, "state": "force"}
        tools.append(Tool(_("Its holds"), links.list_page(LegalHold, **wish)))
    tools += hold_tools(request, record)
    if may_forget(request):
        tools.append(Tool(_("Forget"), links.row_page(record, "forget")))
    return tools


def forget_view(
    page: RecordsAdmin, request: HttpRequest, record: Record
) -> HttpResponse:
    """Show what goes and a form, or do it."""
    if not may_forget(request):
        raise PermissionDenied
    form = ForgetForm(request.POST or None)
    effect, refused = _effect(record)
    if request.method == "POST" and form.is_valid() and not refused:
        return _forget(request, record, form)
    words = Ask(
        _("Forget this record?"),
        _("Forget"),
        [effect],
        about=ABOUT,
        danger=True,
        refused=refused,
    )
    return ask(page, request, record, form, words)


def _effect(record: Record) -> tuple[str, bool]:
    """Return what else goes, or why it cannot."""
    if is_held(using=using(), record=record):
        return str(_("A hold keeps it, so it cannot be forgotten.")), True
    tenant = record.tenant
    try:
        loss = loss_of_forgetting(using=using(), tenant=tenant, ids=[record.id])
    except LimitExceeded as error:
        return f"{error} {_('So it cannot be forgotten here; erase it.')}", True
    derived = record_ids(loss.reached.refs) - {record.id}
    kept = held_records(using=using(), tenant=tenant, ids=derived)
    return deletes(len(derived) - len(kept), len(kept)), False


def deletes(count: int, kept: int) -> str:
    """Return what is said of records that go with another, or are hidden and kept."""
    if not count and not kept:
        return str(_("Nothing is derived from it, so nothing else is deleted."))
    text = ngettext(
        "This also deletes %(count)s record derived from it.",
        "This also deletes %(count)s records derived from it.",
        count,
    )
    if not kept:
        return text % {"count": count}
    more = ngettext(
        "A hold keeps %(kept)s more, which is hidden.",
        "Holds keep %(kept)s more, which are hidden.",
        kept,
    )
    return f"{text} {more}" % {"count": count, "kept": kept}


def _forget(request: HttpRequest, record: Record, form: forms.Form) -> HttpResponse:
    with Told(request) as told:
        done = lifecycle.forget(
            using=using(),
            scope=record.scope.value,
            actor=actor(request),
            ids=[record.id],
            at=timezone.now(),
            hold=form.cleaned_data["hold"],
            reason=form.cleaned_data["reason"],
        )
    if told.refused:
        return HttpResponseRedirect(links.row_page(record))
    if not done.deleted and done.blocked:
        messages.success(request, _("It is hidden, and its body is kept for the hold."))
        return HttpResponseRedirect(links.row_page(record))
    messages.success(request, went(done))
    if record.id in done.kept:
        return HttpResponseRedirect(links.row_page(record))
    return HttpResponseRedirect(records_beside(record))


def went(done: Forgotten) -> str:
    """Return in words what a forgetting deleted."""
    text = ngettext(
        "%(deleted)s record was deleted; holds keep %(kept)s.",
        "%(deleted)s records were deleted; holds keep %(kept)s.",
        done.deleted,
    )
    return text % {"deleted": done.deleted, "kept": len(done.kept)}


def records_beside(record: Record) -> str:
    """Return the list of the records of its scope: it itself is gone."""
    wish = links.tenant_wish(record.tenant) | {"scope": str(record.scope_id)}
    return links.list_page(Record, **wish)
