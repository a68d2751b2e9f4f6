"""Forget one record: first the effect, then the deed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.holding import hold_tools, in_force
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.reveal import ReasonField
from prism_memory.admin.using import using
from prism_memory.errors import (
    Conflict,
    Invalid,
    LimitExceeded,
    NotVisible,
    Unsupported,
)
from prism_memory.lifecycle.governed import is_held
from prism_memory.lifecycle.removal import held_records
from prism_memory.lifecycle.tombstones import closure
from prism_memory.models import LegalHold, Record
from prism_memory.types import Forgotten, record_ids, record_ref

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin

REFUSED: Final = (Conflict, Invalid, LimitExceeded, Unsupported)


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
    context = page.row_context(request, record) | {
        "form": form,
        "effect": effect,
        "refused": refused,
    }
    return page.answer(request, "admin/prism_memory/forget.html", context)


def _effect(record: Record) -> tuple[str, bool]:
    """Return what else goes, or why it cannot."""
    if is_held(using=using(), record=record):
        return str(_("A hold keeps it, so it cannot be forgotten.")), True
    roots = [record_ref(record.id)]
    try:
        refs = closure(using=using(), tenant=record.tenant, roots=roots)
    except LimitExceeded as error:
        return f"{error} {_('So it cannot be forgotten here; erase it.')}", True
    derived = record_ids(refs) - {record.id}
    kept = held_records(using=using(), tenant=record.tenant, ids=derived)
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
    done = _try(
        request,
        lifecycle.forget,
        record,
        ids=[record.id],
        hold=form.cleaned_data["hold"],
        reason=form.cleaned_data["reason"],
    )
    if done is None:
        return HttpResponseRedirect(links.row_page(record))
    messages.success(request, _told(done))
    if done.deleted and record.id not in done.kept:
        wish = links.tenant_wish(record.tenant) | {"scope": str(record.scope_id)}
        return HttpResponseRedirect(links.list_page(Record, **wish))
    return HttpResponseRedirect(links.row_page(record))


def _told(done: Forgotten) -> str:
    if not done.deleted and done.blocked:
        return str(_("It is hidden, and its body is kept for the hold."))
    text = ngettext(
        "%(deleted)s record was deleted; holds keep %(kept)s.",
        "%(deleted)s records were deleted; holds keep %(kept)s.",
        done.deleted,
    )
    return text % {"deleted": done.deleted, "kept": len(done.kept)}


def _try(
    request: HttpRequest,
    verb: Callable[..., Any],
    record: Record,
    **given: Any,  # noqa: ANN401 - as the verb has them
) -> Any:  # noqa: ANN401 - what the verb returns
    """Return what a verb did, or None after the page was told why not."""
    try:
        return verb(
            using=using(),
            scope=record.scope.value,
            actor=actor(request),
            at=timezone.now(),
            **given,
        )
    except NotVisible:
        raise Http404 from None
    except REFUSED as error:
        messages.error(request, str(error))
        return None
