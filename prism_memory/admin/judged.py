"""What the page of a claim shows, wherever somebody came to it from."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from prism_memory.admin.cards import card, evidence_of, replaced_by
from prism_memory.admin.items import Item
from prism_memory.admin.tables import (
    citing_section,
    conflicts_section,
    same_section,
)
from prism_memory.admin.timelines import timeline_of
from prism_memory.admin.words import may_read_gated


def page_of(request: HttpRequest, item: Item) -> dict[str, Any]:
    """Return what templates show of a claim or of a held-back record."""
    gated = may_read_gated(request)
    is_fact = item.fact is not None
    title = _("The claim") if is_fact else _("What it says")
    tables = same_section(item, gated=gated) + conflicts_section(item)
    if is_fact:
        tables.insert(0, citing_section(item, gated=gated))
    return {
        "card": card(item, title),
        "rivals": replaced_by(item, gated=gated),
        "evidence": evidence_of(item, gated=gated),
        "is_fact": is_fact,
        "tables": tables,
        "timeline": timeline_of(item.fact, gated=gated) if item.fact else None,
        "may_reveal": gated,
    }
