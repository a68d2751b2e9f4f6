"""Grant or revoke the consent for one record: first the effect, then the deed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, Told, ask
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import actor
from prism_memory.admin.using import using
from prism_memory.errors import LimitExceeded
from prism_memory.lifecycle.tombstones import closure
from prism_memory.models import Record, Tombstone
from prism_memory.types import TombstoneReason, record_ref

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin


GRANT: Final = Ask(
    _("Grant consent?"),
    _("Grant"),
    about=_(
        "The record is shown to its agents again, unless something else withholds it."
    ),
)
REVOKE: Final = Ask(
    _("Revoke consent?"),
    _("Revoke"),
    about=_(
        "The record disappears from every recall, list and export at once. Nothing is"
        " deleted."
    ),
    danger=True,
)


class ConsentForm(forms.Form):
    visible = forms.TypedChoiceField(
        choices=[("1", _("grant")), ("0", _("revoke"))],
        coerce=lambda value: value == "1",
        widget=forms.HiddenInput,
    )
    reason = ReasonField()


def may(request: HttpRequest, *, grant: bool) -> bool:
    """Tell whether somebody may grant, or revoke.

    Granting shows the words to all who may look, so it needs the right to see them.
    """
    user = request.user
    shows = not grant or user.has_perm("prism_memory.reveal_record")
    return bool(user.has_perm("prism_memory.change_record") and shows)


def consent_tools(request: HttpRequest, record: Record) -> list[Tool]:
    """Return the buttons that fit the state in force."""
    address = links.row_page(record, "consent")
    tools = []
    hidden = record.revoked_at is not None or record.visible is not True
    if hidden and may(request, grant=True):
        tools.append(Tool(_("Grant consent"), f"{address}?visible=1"))
    shown = record.revoked_at is None and record.visible is not False
    if shown and may(request, grant=False):
        tools.append(Tool(_("Revoke consent"), f"{address}?visible=0"))
    return tools


def consent_view(
    page: RecordsAdmin, request: HttpRequest, record: Record
) -> HttpResponse:
    """Show the effect and a form, or do it."""
    form = ConsentForm(request.POST or None, initial=request.GET.dict())
    wished = request.POST.get("visible", request.GET.get("visible"))
    if wished not in {"0", "1"}:
        raise Http404
    if not may(request, grant=wished == "1"):
        raise PermissionDenied
    if request.method == "POST" and form.is_valid():
        return _change(request, record, form)
    words = GRANT if wished == "1" else REVOKE
    effect = [_effect(record, grant=wished == "1")]
    return ask(page, request, record, form, replace(words, effect=effect))


def _effect(record: Record, *, grant: bool) -> str:
    """Return what else changes."""
    root = record_ref(record.id)
    if grant:
        lifted = Tombstone.objects.using(using()).filter(
            tenant=record.tenant,
            root_ref=root,
            reason=TombstoneReason.REVOKED.value,
            hold=False,
            cleared_at=None,
        )
        return _lifts(lifted.exclude(target_ref=root).count())
    try:
        refs = closure(using=using(), tenant=record.tenant, roots=[root])
    except LimitExceeded:
        return str(_("Very many records derive from it; all are blocked too."))
    return blocks(len(refs) - 1)


def blocks(count: int) -> str:
    """Return how many records that derive from another are blocked, in words."""
    if not count:
        return str(_("Nothing is derived from it, so nothing else is blocked."))
    text = ngettext(
        "This also blocks %(count)s record derived from it.",
        "This also blocks %(count)s records derived from it.",
        count,
    )
    return text % {"count": count}


def _lifts(count: int) -> str:
    if not count:
        return str(_("Nothing else is blocked because of it."))
    text = ngettext(
        "This also lifts the block on %(count)s record derived from it.",
        "This also lifts the block on %(count)s records derived from it.",
        count,
    )
    return text % {"count": count}


def _change(request: HttpRequest, record: Record, form: ConsentForm) -> HttpResponse:
    grant = form.cleaned_data["visible"]
    with Told(request) as told:
        lifecycle.set_consent(
            using=using(),
            scope=record.scope.value,
            actor=actor(request),
            record_id=record.id,
            at=timezone.now(),
            visible=grant,
            reason=form.cleaned_data["reason"],
        )
    if not told.refused:
        done = _("Consent was granted.") if grant else _("Consent was revoked.")
        messages.success(request, done)
    return HttpResponseRedirect(links.row_page(record))
