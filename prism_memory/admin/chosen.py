"""Forget, or revoke the consent for, records chosen in a list: all, or none."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import TEMPLATE, Ask, ReasonForm, Told
from prism_memory.admin.characters import shown
from prism_memory.admin.consent import may as may_consent
from prism_memory.admin.forget import may_forget, went
from prism_memory.admin.parts import Place
from prism_memory.admin.readonly import actor
from prism_memory.admin.tabs import tabs
from prism_memory.admin.using import using
from prism_memory.errors import LimitExceeded
from prism_memory.lifecycle.evidence import loss_of_forgetting
from prism_memory.lifecycle.removal import held_records
from prism_memory.lifecycle.tombstones import MOST_REFS, walk
from prism_memory.models import Record, Scope
from prism_memory.types import record_ids, record_ref

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin

VERBS: Final[dict[str, tuple[Any, Any, Any]]] = {
    "forget": (
        _("Forget"),
        _("Forget these records?"),
        _(
            "Their bodies are deleted from this database. This cannot be undone, and"
            " what was shown before cannot be taken back."
        ),
    ),
    "revoke": (
        _("Revoke consent"),
        _("Revoke the consent for these records?"),
        _("They disappear from every recall, list and export. Nothing is deleted."),
    ),
}


def verbs(request: HttpRequest) -> list[tuple[str, Any]]:
    """Return name and label of what somebody may do to chosen records."""
    may = {"forget": may_forget(request), "revoke": may_consent(request, grant=False)}
    return [(name, VERBS[name][0]) for name in VERBS if may[name]]


def chosen_view(page: RecordsAdmin, request: HttpRequest, place: Place) -> HttpResponse:
    """Show the effect and a form, or do it to all of them."""
    scope, verb = place.scope, request.POST.get("verb", "")
    back = links.list_page(Record, **place.wish)
    if scope is None or verb not in VERBS:
        raise Http404
    if verb not in dict(verbs(request)):
        raise PermissionDenied
    ids = _ids(request.POST.getlist("ids"))
    rows = Record.objects.using(using()).filter(tenant=scope.tenant, scope=scope.id)
    found = sorted(rows.filter(id__in=ids[:MOST_REFS]).values_list("id", flat=True))
    if not found or len(ids) > MOST_REFS:
        many = _("Choose 256 records at most.")
        messages.error(request, many if found else _("No record was chosen."))
        return HttpResponseRedirect(back)
    form = ReasonForm(request.POST if "do" in request.POST else None)
    effect, refused = (
        _forgets(scope, found) if verb == "forget" else (_revokes(scope, found))
    )
    if form.is_valid() and not refused:
        _act(request, scope, verb, found, form.cleaned_data["reason"])
        return HttpResponseRedirect(back)
    kept = [("verb", verb), *(("ids", str(one)) for one in found)]
    label, question, about = VERBS[verb]
    words = Ask(
        question,
        label,
        effect,
        about,
        danger=True,
        refused=refused,
        back=back,
        kept=kept,
    )
    return page.answer(request, TEMPLATE, _frame(request, place, form, words))


def _frame(
    request: HttpRequest, place: Place, form: forms.Form, words: Ask
) -> dict[str, Any]:
    return {
        "title": words.label,
        "place": place,
        "tenant_shown": shown(place.tenant or ""),
        "list_page": words.back,
        "tabs": tabs(request, place.tenant, Record),
        "form": form,
        "ask": words,
    }


def _ids(given: Sequence[str]) -> list[uuid.UUID]:
    try:
        return list(dict.fromkeys(uuid.UUID(one) for one in given))
    except ValueError:
        raise Http404 from None


def _forgets(scope: Scope, ids: Sequence[uuid.UUID]) -> tuple[list[object], bool]:
    """Return what goes, or why it cannot."""
    try:
        loss = loss_of_forgetting(using=using(), tenant=scope.tenant, ids=ids)
    except LimitExceeded as error:
        return [error, _("So they cannot be forgotten here together.")], True
    every = record_ids(loss.reached.refs)
    kept = held_records(using=using(), tenant=scope.tenant, ids=every)
    more = len(every - kept - {*ids})
    goes = len({*ids} - kept)
    text = ngettext(
        "%(goes)s chosen record goes, and %(more)s derived from them.",
        "%(goes)s chosen records go, and %(more)s derived from them.",
        goes,
    )
    lines: list[object] = [text % {"goes": goes, "more": more}]
    return lines + ([_("Holds keep %s.") % len(kept)] if kept else []), False


def _revokes(scope: Scope, ids: Sequence[uuid.UUID]) -> tuple[list[object], bool]:
    roots = [record_ref(one) for one in ids]
    reached = record_ids(walk(using=using(), tenant=scope.tenant, roots=roots).refs)
    more = len(reached - {*ids})
    text = ngettext(
        "%(count)s chosen record is hidden, and %(more)s derived from them.",
        "%(count)s chosen records are hidden, and %(more)s derived from them.",
        len(ids),
    )
    return [text % {"count": len(ids), "more": more}], False


def _act(
    request: HttpRequest,
    scope: Scope,
    verb: str,
    ids: Sequence[uuid.UUID],
    reason: str,
) -> None:
    own: dict[str, Any] = {
        "using": using(),
        "scope": scope.value,
        "actor": actor(request),
        "at": timezone.now(),
        "reason": reason,
    }
    with Told(request):
        if verb == "forget":
            text = went(lifecycle.forget(**own, ids=ids))
        else:
            with transaction.atomic(using=using()):
                for record_id in ids:
                    lifecycle.set_consent(**own, record_id=record_id, visible=False)
            text = str(_("Consent was revoked."))
        messages.success(request, text)
