"""Retire a document, bring it back, or delete it: first the effect, then the deed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonForm, Told, ask
from prism_memory.admin.badges import number
from prism_memory.admin.erasing import effect_of
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.using import using
from prism_memory.memory import Memory
from prism_memory.models import Evidence, Record, Source, SourceState
from prism_memory.types import ReadMode, SourceKind

MOST_COUNTED: Final = 10_000


@dataclass(frozen=True)
class SourceDeed:
    """One thing that a person can do to a document.

    Args:
        right: Which it needs.
        fits: Whether it can be done to it now.
        effect: What it does to this one, in words.
        act: Does it; returns what is said of it.
    """

    label: Any
    question: Any
    about: Any
    right: str
    fits: Callable[[Source], bool]
    effect: Callable[[Source], list[object]]
    act: Callable[[Memory, str, str], str]
    danger: bool = False


def _in_force(source: Source) -> int:
    rows = Record.objects.using(using()).filter(tenant=source.tenant, source=source.id)
    return rows.filter(retired_at=None)[: MOST_COUNTED + 1].count()


def _cited(source: Source) -> int:
    rows = Evidence.objects.using(using()).filter(
        tenant=source.tenant, record__tenant=source.tenant, record__source=source.id
    )
    facts = rows.values("fact_id").distinct()
    return facts[: MOST_COUNTED + 1].count()


def _leaves(source: Source) -> list[object]:
    count, citing = _in_force(source), _cited(source)
    leaves = ngettext(
        "%s record leaves search.", "%s records leave search.", count
    ) % number(count, most=MOST_COUNTED)
    cited = ngettext(
        "%s fact cites it, and stays as it is.",
        "%s facts cite it, and stay as they are.",
        citing,
    ) % number(citing, most=MOST_COUNTED)
    return [leaves, cited] if citing else [leaves]


def _retire(memory: Memory, key: str, reason: str) -> str:
    done = memory.sources.retire(key, reason=reason)
    text = ngettext("%s record left search.", "%s records left search.", done.chunks)
    return text % number(done.chunks)


def _restore(memory: Memory, key: str, reason: str) -> str:
    done = memory.sources.restore(key, reason=reason)
    text = ngettext("%s record is back.", "%s records are back.", done.chunks)
    return text % number(done.chunks)


def _delete(memory: Memory, key: str, reason: str) -> str:
    done = memory.sources.delete(key, reason=reason)
    text = ngettext(
        "%(deleted)s record was deleted; holds keep %(kept)s.",
        "%(deleted)s records were deleted; holds keep %(kept)s.",
        done.deleted,
    )
    return text % {"deleted": number(done.deleted), "kept": number(len(done.kept))}


DEEDS: Final[dict[str, SourceDeed]] = {
    "retire": SourceDeed(
        _("Retire"),
        _("Take this source out of search?"),
        _("It is found no more, and stays readable by its address. It can come back."),
        "prism_memory.change_source",
        lambda source: source.state == SourceState.ACTIVE,
        _leaves,
        _retire,
    ),
    "restore": SourceDeed(
        _("Bring back"),
        _("Bring this source back to search?"),
        _("What it held when it was retired is found again; vectors are made anew."),
        "prism_memory.change_source",
        lambda source: source.state == SourceState.RETIRED,
        lambda _source: [],
        _restore,
    ),
    "delete": SourceDeed(
        _("Delete"),
        _("Delete this source?"),
        _(
            "Its bodies are deleted with all that is derived from them. Its key may be"
            " used again. To have a receipt, erase it."
        ),
        "prism_memory.delete_record",
        lambda _source: True,
        effect_of,
        _delete,
        danger=True,
    ),
}
"""By name, in the order of their buttons."""


def source_tools(request: HttpRequest, row: Source) -> list[Tool]:
    """Return the buttons that fit, for who may."""
    return [
        Tool(deed.label, links.row_page(row, name))
        for name, deed in DEEDS.items()
        if row.kind == SourceKind.DOCUMENT
        and deed.fits(row)
        and request.user.has_perm(deed.right)
    ]


def deed_view(
    page: ReadOnlyAdmin, request: HttpRequest, row: Source, name: str
) -> HttpResponse:
    """Say what follows and ask why, or do it."""
    deed = DEEDS[name]
    if row.kind != SourceKind.DOCUMENT or not request.user.has_perm(deed.right):
        raise PermissionDenied
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _do(request, row, deed, form.cleaned_data["reason"])
    words = Ask(
        deed.question,
        deed.label,
        deed.effect(row) if deed.fits(row) else [_("That is so already.")],
        about=deed.about,
        danger=deed.danger,
        refused=not deed.fits(row),
    )
    return ask(page, request, row, form, words)


def _do(
    request: HttpRequest, row: Source, deed: SourceDeed, reason: str
) -> HttpResponse:
    memory = Memory(
        row.scope.value, actor=actor(request), read=ReadMode.EXACT, using=using()
    )
    with Told(request) as told:
        done = deed.act(memory, row.key, reason)
    if not told.refused:
        messages.success(request, done)
    if Source.objects.using(using()).filter(tenant=row.tenant, id=row.id).exists():
        return HttpResponseRedirect(links.row_page(row))
    return HttpResponseRedirect(links.list_page(Source, tenant=row.tenant))
