"""Decide about several things that wait: told first which can be, and only those."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from prism_memory.admin import links
from prism_memory.admin.asking import TEMPLATE, Ask
from prism_memory.admin.characters import marked, shown
from prism_memory.admin.content import short_label
from prism_memory.admin.deciding import WhyForm, given
from prism_memory.admin.deeds import DEEDS, Deed
from prism_memory.admin.items import Item, items_of
from prism_memory.admin.parts import Place, Section
from prism_memory.admin.tabs import tabs
from prism_memory.admin.words import may_read_gated, previews_of
from prism_memory.errors import PrismMemoryError
from prism_memory.models import Review

if TYPE_CHECKING:
    from prism_memory.admin.reviews import ReviewsAdmin

RIGHT: Final = "change_review"
MOST: Final = 100
MOST_TOLD: Final = 5
NAMES: Final = ("accept", "validate", "force", "reject")


def bulk(request: HttpRequest) -> list[tuple[str, Any]]:
    """Return name and label of what somebody may do to several at once."""
    return [(n, DEEDS[n].label) for n in NAMES if DEEDS[n].may(request, RIGHT)]


def many_view(page: ReviewsAdmin, request: HttpRequest, place: Place) -> HttpResponse:
    """Show which of the chosen can be decided so, and a form; or decide those."""
    back = links.list_page(Review, **place.wish)
    name = request.POST.get("verb", "")
    if request.method != "POST":
        return HttpResponseRedirect(back)
    if place.tenant is None or name not in NAMES:
        raise Http404
    if name not in dict(bulk(request)):
        raise PermissionDenied
    items = _chosen(page, request, place)
    if not items:
        messages.error(request, _("Choose 1 to 100 that wait."))
        return HttpResponseRedirect(back)
    deed = DEEDS[name]
    problems = [deed.why_not(item) for item in items]
    fitting = [i for i, why in zip(items, problems, strict=True) if not why]
    form = WhyForm(request.POST if "do" in request.POST else None)
    if fitting and form.is_valid():
        _decide(request, deed, items, problems, form.cleaned_data["reason"])
        return HttpResponseRedirect(back)
    words = _words(name, items, fitting, back)
    sections = _sections(request, deed, items, problems)
    context = {"form": form, "ask_sections": sections}
    return page.answer(request, TEMPLATE, _frame(request, place, words) | context)


def _words(name: str, items: Sequence[Item], fitting: Sequence[Item], back: str) -> Ask:
    deed = DEEDS[name]
    return Ask(
        _("%s those chosen?") % deed.label,
        deed.label,
        _effect(items, fitting),
        deed.about,
        danger=deed.danger,
        refused=not fitting,
        back=back,
        kept=[("verb", name), *(("ids", str(_id(item))) for item in fitting)],
    )


def _chosen(page: ReviewsAdmin, request: HttpRequest, place: Place) -> list[Item]:
    """Return what was chosen of the tenant; nothing where it is too much."""
    try:
        ids = {uuid.UUID(one) for one in request.POST.getlist("ids")}
    except ValueError:
        raise Http404 from None
    if len(ids) > MOST:
        return []
    rows = list(page.rows(place).filter(id__in=ids).order_by("why", "opened_at", "id"))
    gated = may_read_gated(request)
    found: list[Item] = []
    # A record may wait for several reasons: each is decided by itself.
    for why in dict.fromkeys(row.why for row in rows):
        of_one = [row for row in rows if row.why == why]
        records = [row.record for row in of_one]
        found += items_of(records, gated=gated, reviews=of_one).values()
    return found


def _id(item: Item) -> uuid.UUID | None:
    return item.review.id if item.review else None


def _effect(items: Sequence[Item], fitting: Sequence[Item]) -> list[object]:
    if not fitting:
        return [_("None of them can be decided so.")]
    text = ngettext(
        "%(count)s of %(all)s is decided so.",
        "%(count)s of %(all)s are decided so.",
        len(fitting),
    )
    lines: list[object] = [text % {"count": len(fitting), "all": len(items)}]
    return lines + ([_("The others stay as they are.")] if fitting != items else [])


def _frame(request: HttpRequest, place: Place, words: Ask) -> dict[str, Any]:
    return {
        "title": words.label,
        "place": place,
        "tenant_shown": shown(place.tenant or ""),
        "list_page": words.back,
        "tabs": tabs(request, place.tenant, Review),
        "ask": words,
    }


def _sections(
    request: HttpRequest,
    deed: Deed,
    items: Sequence[Item],
    problems: Sequence[object],
) -> list[Section]:
    records = [item.record for item in items]
    texts = previews_of(records, gated=may_read_gated(request))
    rows = [
        (
            links.anchor(links.row_page(item.review or item.record), _name(item)),
            shown(texts.get(item.record.id, str(_("withheld")))),
            why or format_html_join(" ", "{}", ((line,) for line in deed.effect(item))),
        )
        for item, why in zip(items, problems, strict=True)
    ]
    headers = (_("What"), _("Says"), _("What happens"))
    return [Section(_("Those chosen"), rows, headers=headers)]


def _name(item: Item) -> str:
    return f"{item.record.get_kind_display()} {short_label(item.record)}"


def _decide(
    request: HttpRequest,
    deed: Deed,
    items: Sequence[Item],
    problems: Sequence[object],
    reason: str,
) -> None:
    """Decide about each by itself, and tell of those that somebody was quicker with."""
    refused = []
    for item, why in zip(items, problems, strict=True):
        if why:  # it fitted when it was shown
            refused.append(f"{marked(_name(item))}: {why}")
            continue
        try:
            deed.act(item, given(request, item, reason))
        except PrismMemoryError as error:
            refused.append(f"{marked(_name(item))}: {error}")
    done = len(items) - len(refused)
    if done:
        text = ngettext("%s was decided.", "%s were decided.", done)
        messages.success(request, text % done)
    for line in refused[:MOST_TOLD]:
        messages.error(request, line)
    if len(refused) > MOST_TOLD:
        more = _("%s more could not be decided.") % (len(refused) - MOST_TOLD)
        messages.error(request, more)
