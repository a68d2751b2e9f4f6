"""Do one deed to one thing: first what follows, then why, then the deed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonField, Told, ask
from prism_memory.admin.characters import shown
from prism_memory.admin.deeds import DEEDS
from prism_memory.admin.items import Item
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.using import using
from prism_memory.models.base import TenantModel
from prism_memory.types import ReviewWhy

MOST_CHARACTERS: Final = 600
"""Of what a page that asks repeats; the whole stands on the page before."""


class WhyForm(forms.Form):
    """As every deed's, with the hand on it at once."""

    reason = ReasonField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Django's
        super().__init__(*args, **kwargs)
        self.fields["reason"].widget.attrs["autofocus"] = True


@dataclass(frozen=True)
class Button:
    """A deed as a page offers it.

    Args:
        key: Of the keyboard.
    """

    name: str
    label: object
    address: str
    key: str
    danger: bool


def buttons(
    request: HttpRequest,
    row: TenantModel,
    item: Item,
    *,
    names: Iterable[str],
    right: str,
    query: str = "",
) -> Iterator[Button]:
    """Yield those of the named deeds that somebody may do and that fit.

    Args:
        row: Whose page it is.
        right: Of that page.
        query: What their addresses carry on.
    """
    for name in names:
        deed = DEEDS[name]
        if deed.may(request, right) and not deed.why_not(item):
            address = links.row_page(row, name) + query
            yield Button(name, deed.label, address, deed.key, deed.danger)


def refusals(request: HttpRequest, item: Item, *, right: str) -> list[object]:
    """Return why what is held back cannot simply be validated, for who might."""
    waits = item.review is not None and item.review.why == ReviewWhy.QUARANTINED
    if not waits or (item.review and item.review.decided_at):
        return []
    deed = DEEDS["validate"]
    problem = deed.why_not(item) if deed.may(request, right) else ""
    return [problem] if problem else []


def deed_view(
    page: ReadOnlyAdmin,
    request: HttpRequest,
    row: TenantModel,
    item: Item,
    name: str,
    *,
    right: str,
    back: str,
) -> HttpResponse | None:
    """Ask, or do it; None once it is done.

    Args:
        row: Whose page it is.
        right: Of that page.
        back: Where it leads who says no, or who was too late.
    """
    deed = DEEDS[name]
    if not deed.may(request, right):
        raise PermissionDenied
    form = WhyForm(request.POST or None)
    problem = deed.why_not(item)
    if request.method == "POST" and problem:
        messages.error(request, problem)
        return HttpResponseRedirect(back)
    if request.method == "POST" and form.is_valid():
        # Somebody may be quicker still: then the verb refuses.
        with Told(request) as told:
            deed.act(item, given(request, item, form.cleaned_data["reason"]))
        if told.refused:
            return HttpResponseRedirect(back)
        messages.success(request, deed.done)
        return None
    return ask(page, request, row, form, _words(item, name, problem, back))


def _words(item: Item, name: str, problem: object, back: str) -> Ask:
    deed = DEEDS[name]
    told = [problem, _("So it cannot be done.")] if problem else deed.effect(item)
    lines = [*saying(item), *told]
    return Ask(
        deed.question,
        deed.label,
        lines,
        about=deed.about,
        danger=deed.danger,
        refused=bool(problem),
        back=back,
    )


def saying(item: Item) -> list[object]:
    """Return what it says, for whoever decides about it; nothing where that is held."""
    if item.words is None:
        return []
    text = Truncator(item.words.text).chars(MOST_CHARACTERS)
    return [format_html("{}: <q>{}</q>", _("It says"), shown(text))]


def given(request: HttpRequest, item: Item, reason: str) -> dict[str, Any]:
    """Return what every verb takes."""
    return {
        "using": using(),
        "scope": item.record.scope.value,
        "actor": actor(request),
        "at": timezone.now(),
        "reason": reason,
    }
