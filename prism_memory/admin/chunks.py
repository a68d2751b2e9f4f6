"""A document's chunks in its order: how each is cited, and its first words."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Max
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, Tone, badge, badges
from prism_memory.admin.characters import shown
from prism_memory.admin.content import headings, loaded, previews
from prism_memory.admin.parts import Section
from prism_memory.admin.using import using
from prism_memory.models import GateState, Record, Source
from prism_memory.types import Kind, SourceKind

PER_PAGE: Final = 50
FROM: Final = "chunk"
"""In the address: the place, from 1, of the first that is shown."""

HEADERS: Final = (_("Cited as"), _("Lines"), _("Under"), _("Text"), _("State"))


def chunks_section(request: HttpRequest, source: Source) -> list[Section]:
    """Return a page of the chunks in force, for who may look at records.

    Four queries; more where records are signed.
    """
    if source.kind != SourceKind.DOCUMENT or not links.may_view(request.user, Record):
        return []
    rows = Record.objects.using(using()).filter(
        tenant=source.tenant,
        source=source.id,
        kind=Kind.CHUNK.value,
        retired_at=None,
    )
    return [_section(request, source, rows)]


def _section(request: HttpRequest, source: Source, rows: Any) -> Section:  # noqa: ANN401
    first = _first(request)
    wanted = rows.filter(ordinal__gte=first, ordinal__lt=first + PER_PAGE)
    found = list(loaded(wanted).order_by("ordinal", "id"))
    words = previews(source.scope, found) if found else {}
    under = headings(source.scope, found) if found else {}
    table = [
        _row(f"{source.key}#{(record.ordinal or 0) + 1:04d}", record, words, under)
        for record in found
    ]
    last = rows.aggregate(last=Max("ordinal"))["last"]
    return Section(
        _("Chunks"),
        table,
        headers=HEADERS,
        empty=_("No chunk in force here."),
        note=_pages(source, first, -1 if last is None else last),
    )


def _first(request: HttpRequest) -> int:
    given = request.GET.get(FROM, "")
    is_number = given.isascii() and given.isdecimal() and len(given) < 10
    return max(0, int(given) - 1) if is_number else 0


def _row(
    name: str,
    record: Record,
    words: Mapping[uuid.UUID, str],
    under: Mapping[uuid.UUID, str],
) -> list[object]:
    lines = f"{record.line_start} to {record.line_end}" if record.line_start else ""
    text = words.get(record.id)
    return [
        links.anchor(links.row_page(record), name),
        lines or NOTHING,
        shown(under.get(record.id, "")) or NOTHING,
        badge(_("withheld"), "quiet") if text is None else shown(text),
        _states(record),
    ]


def _states(record: Record) -> object:
    found: list[tuple[Any, Tone]] = []
    if record.gate != GateState.OPEN:
        found.append((record.get_gate_display(), "warn"))
    if record.generation is not None:
        found.append((_("generation %s") % record.generation, "quiet"))
    return badges(found) if found else NOTHING


def _pages(source: Source, first: int, last: int) -> object:
    """Return where the chunks before these are, and those after."""
    page = links.row_page(source)
    before = f"{page}?{FROM}={max(0, first - PER_PAGE) + 1}" if first else ""
    after = f"{page}?{FROM}={first + PER_PAGE + 1}" if last >= first + PER_PAGE else ""
    parts = [
        links.anchor(address, label)
        for address, label in ((before, _("Before")), (after, _("After")))
        if address
    ]
    return format_html_join(" · ", "{}", ((part,) for part in parts))
