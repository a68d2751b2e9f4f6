"""The gate of one record: where its review waits, and holding it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.deciding import deed_view
from prism_memory.admin.deeds import DEEDS
from prism_memory.admin.facts import waiting_tools
from prism_memory.admin.items import Item, items_of
from prism_memory.admin.parts import Tool
from prism_memory.models import Fact, Record
from prism_memory.types import Kind

if TYPE_CHECKING:
    from prism_memory.admin.records import RecordsAdmin

RIGHT: Final = "change_record"
QUARANTINE: Final = "quarantine"


def gate_tools(request: HttpRequest, record: Record) -> list[Tool]:
    """Return the buttons, for who may."""
    tools = waiting_tools(request, record.tenant, record.id)
    if record.kind == Kind.FACT:
        page = links.page(Fact, "change", links.object_id(record))
        tools.insert(0, Tool(_("Its fact"), page))
    deed = DEEDS[QUARANTINE]
    if deed.may(request, RIGHT) and not deed.why_not(Item(record)):
        tools.append(Tool(deed.label, links.row_page(record, QUARANTINE)))
    return tools


def gate_view(page: RecordsAdmin, request: HttpRequest, record: Record) -> HttpResponse:
    """Say what follows, ask why, then hold it back."""
    item = items_of([record], gated=False, with_words=False)[record.id]
    back = links.row_page(record)
    answer = deed_view(page, request, record, item, QUARANTINE, right=RIGHT, back=back)
    return answer or HttpResponseRedirect(back)
