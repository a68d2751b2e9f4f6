"""Place a hold on a record, a source or a scope, and show those in force on it."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory import lifecycle
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, Told, ask
from prism_memory.admin.badges import NOTHING, moment, number
from prism_memory.admin.characters import shown
from prism_memory.admin.parts import Section, Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.using import using
from prism_memory.models import LegalHold, Record, Scope, Source
from prism_memory.types import NAME_BYTES, HoldLevel, record_ref

MOST_COUNTED: Final = 100_000
MOST_SHOWN: Final = 100

Held = Record | Source | Scope

QUESTIONS: Final[dict[type[Held], object]] = {
    Record: _("Place a hold on this record?"),
    Source: _("Place a hold on this source?"),
    Scope: _("Place a hold on this scope and all below it?"),
}
ABOUT: Final = _(
    "Nothing deletes or overwrites it until the hold is released: no forgetting, no"
    " retention, no erasure. It hides nothing."
)


class HoldForm(forms.Form):
    matter = forms.CharField(
        label=_("Matter"),
        required=False,
        max_length=NAME_BYTES,
        help_text=_("What it is for, as a case's number."),
        widget=forms.TextInput(attrs={"size": 40}),
    )
    reason = ReasonField()


def may_hold(request: HttpRequest) -> bool:
    """Tell whether somebody may place holds."""
    return bool(request.user.has_perm("prism_memory.add_legalhold"))


def in_force(row: Held) -> QuerySet[LegalHold]:
    """Return the holds on exactly this row that are not released. Lazy."""
    target = f"{row._meta.model_name}:{row.pk}"  # noqa: SLF001 - Django's own way
    rows = LegalHold.objects.using(using())
    return rows.filter(tenant=row.tenant, target_ref=target, released_at=None)


def over(record: Record) -> QuerySet[LegalHold]:
    """Return the holds on a record, on its source, and on scopes it lies in. Lazy."""
    refs = [record_ref(record.id), f"source:{record.source_id}"]
    home = record.scope
    places = [
        ("", "", ""),
        (home.owner, "", ""),
        (home.owner, home.agent, ""),
        (home.owner, home.agent, home.thread),
    ]
    on = Q(target_ref__in=refs)
    for owner, agent, thread in places:
        on |= Q(level=HoldLevel.SCOPE.value, owner=owner, agent=agent, thread=thread)
    rows = LegalHold.objects.using(using())
    return rows.filter(on, tenant=record.tenant, released_at=None)


def hold_tools(request: HttpRequest, row: Held) -> list[Tool]:
    """Return the button, for who may."""
    if not may_hold(request):
        return []
    return [Tool(_("Place hold"), links.row_page(row, "hold"))]


def holds_section(request: HttpRequest, row: Held) -> list[Section]:
    """Return the holds in force on a source or a scope, for who may look at them."""
    if not links.may_view(request.user, LegalHold):
        return []
    found = list(in_force(row).order_by("-id")[: MOST_SHOWN + 1])
    if not found:
        return []
    may_end = request.user.has_perm("prism_memory.change_legalhold")
    rows = [
        (
            links.anchor(links.row_page(hold), hold.matter or _("no matter named")),
            shown(hold.placed_by),
            moment(hold.placed_at),
            links.anchor(links.row_page(hold, "release"), _("Release"))
            if may_end
            else NOTHING,
        )
        for hold in found[:MOST_SHOWN]
    ]
    headers = (_("Matter"), _("Placed by"), _("Placed"), _("End it"))
    more = _("Only the latest 100 are listed.") if len(found) > MOST_SHOWN else ""
    return [Section(_("Holds on it"), rows, headers=headers, note=more)]


def hold_view(page: ReadOnlyAdmin, request: HttpRequest, row: Held) -> HttpResponse:
    """Say what is kept, ask what for and why, or place the hold."""
    if not may_hold(request):
        raise PermissionDenied
    form = HoldForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _hold(request, row, form.cleaned_data)
    words = Ask(QUESTIONS[type(row)], _("Place hold"), [keeps(row)], about=ABOUT)
    return ask(page, request, row, form, words)


def keeps(row: Held) -> str:
    """Return in words how much a hold on a row would keep. One query."""
    count = _records(row)
    text = ngettext(
        "This keeps %(count)s record from deletion.",
        "This keeps %(count)s records from deletion.",
        count,
    ) % {"count": number(count, most=MOST_COUNTED)}
    later = _("What is written there later is kept too.")
    return text if isinstance(row, Record) else f"{text} {later}"


def _records(row: Held) -> int:
    if isinstance(row, Record):
        return 1
    rows = Record.objects.using(using()).filter(tenant=row.tenant)
    if isinstance(row, Source):
        rows = rows.filter(source=row.id)
    else:
        below = Scope.objects.using(using()).below(row.value)
        rows = rows.filter(scope__in=below.values("id"))
    return rows[: MOST_COUNTED + 1].count()


def _hold(request: HttpRequest, row: Held, given: dict[str, Any]) -> HttpResponse:
    names = {Record: "record_id", Source: "source"}
    target: dict[str, Any] = {names[type(row)]: row.pk} if type(row) in names else {}
    with Told(request) as told:
        placed = lifecycle.hold(
            using=using(),
            scope=row.value if isinstance(row, Scope) else row.scope.value,
            actor=actor(request),
            at=timezone.now(),
            **target,
            **given,
        )
    if not told.refused:
        new, stood = _("The hold was placed."), _("That hold stood already.")
        messages.success(request, new if placed.new else stood)
    return HttpResponseRedirect(links.row_page(row))
