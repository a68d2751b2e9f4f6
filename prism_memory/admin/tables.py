"""Tables beside a claim: who else rests on the same, and what it was compared with."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any, Final

from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import NOTHING, Tone, badges, moment
from prism_memory.admin.cards import cited_beside, same_as, states
from prism_memory.admin.characters import shown
from prism_memory.admin.content import short_label
from prism_memory.admin.items import Item, items_of, records_of
from prism_memory.admin.parts import Section
from prism_memory.admin.using import using
from prism_memory.admin.words import previews_of
from prism_memory.models import ConflictDecision, Fact
from prism_memory.types import Verdict

MOST_ROWS: Final = 50

FACT: Final = (_("Fact"), _("Says"), _("State"), _("Valid from"), _("Valid until"))
VERDICTS: Final[dict[str, Tone]] = {
    Verdict.ADMIT: "good",
    Verdict.DEDUP: "quiet",
    Verdict.SUPERSEDE: "warn",
    Verdict.PENDING: "warn",
}


def fact_link(tenant: str, fact_id: uuid.UUID) -> Any:  # noqa: ANN401 - a SafeString
    """Return a fact's id, linked to its page."""
    page = links.page(Fact, "change", f"{fact_id}{links.SEPARATOR}{tenant}")
    return links.anchor(page, links.code(fact_id))


def citing_section(item: Item, *, gated: bool) -> Section:
    """Return the other facts that cite what one cites, those that share most first."""
    counts = cited_beside(item)
    lines = [
        (*cells, counts[fact_id])
        for fact_id, cells in _facts(item, list(counts)[:MOST_ROWS], gated=gated)
    ]
    return Section(
        _("Who else cites this evidence"),
        lines,
        headers=(*FACT, _("Shared records")),
        empty=_("Nobody else does."),
        note=_("Only the first 50 are listed.") if len(counts) > MOST_ROWS else "",
    )


def same_section(item: Item, *, gated: bool) -> list[Section]:
    """Return what is open about the same subject and predicate; nothing without any."""
    rows = [cells for _id, cells in _facts(item, same_as(item), gated=gated)]
    title = _("What else is said about the same")
    return [Section(title, rows, headers=FACT)] if rows else []


def _facts(
    item: Item, ids: Collection[uuid.UUID], *, gated: bool
) -> list[tuple[uuid.UUID, tuple[object, ...]]]:
    """Return facts as rows of a table. Four queries; none for none."""
    if not ids:
        return []
    rows = records_of(item.record.tenant, ids)
    items = items_of(rows.values(), gated=gated, with_words=False)
    texts = previews_of(rows.values(), gated=gated)
    return [
        (i, _cells(items[i], shown(texts[i]) if i in texts else _("withheld")))
        for i in ids
        if i in items
    ]


def _cells(item: Item, words: object) -> tuple[object, ...]:
    link = links.anchor(
        links.row_page(item.fact or item.record), short_label(item.record)
    )
    version = item.version
    since = moment(version.valid_from) if version else NOTHING
    until = moment(version.valid_to, _("open")) if version else NOTHING
    return link, words, states(item), since, until


def conflicts_section(item: Item) -> list[Section]:
    """Return what was decided about a claim beside others; nothing without any."""
    if item.fact is None:
        return []
    rows = ConflictDecision.objects.using(using()).filter(
        tenant=item.fact.tenant, fact=item.fact.id
    )
    found = list(rows.order_by("-id")[: MOST_ROWS + 1])
    if not found:
        return []
    return [
        Section(
            _("What it was compared with"),
            [conflict_row(one) for one in found[:MOST_ROWS]],
            headers=(
                _("Verdict"),
                _("Why"),
                _("Cosine"),
                _("Others"),
                _("By"),
                _("At"),
            ),
            note=_("Only the latest 50 are listed.") if len(found) > MOST_ROWS else "",
        )
    ]


def conflict_row(row: ConflictDecision) -> tuple[object, ...]:
    """Return a decision as a table's row."""
    return (
        verdict_badges(row),
        conflict_why(row),
        cosine(row),
        others(row.tenant, row.others),
        shown(row.actor),
        moment(row.at),
    )


def verdict_badges(row: ConflictDecision) -> object:
    """Return what was decided, and what came of it."""
    found: list[tuple[Any, Tone]] = [(row.get_verdict_display(), VERDICTS[row.verdict])]
    if row.settled_at is not None:
        settled = _("settled: %s") % row.get_settled_as_display().lower()
        found.append((settled, "good"))
    return badges(found)


def conflict_why(row: ConflictDecision) -> str:
    """Return the stage, the zone and the reason. It holds no words of a claim."""
    zone = row.get_zone_display() if row.zone else ""
    parts = (row.get_stage_display(), zone, row.reason)
    return shown(" · ".join(str(part) for part in parts if part))


def cosine(row: ConflictDecision) -> object:
    """Return the raw cosine of the nearest."""
    return NOTHING if row.similarity is None else f"{row.similarity:.3f}"


def others(tenant: str, ids: Collection[uuid.UUID]) -> object:
    """Return links to facts, in a line."""
    if not ids:
        return NOTHING
    return format_html_join(" ", "{}", ((fact_link(tenant, one),) for one in ids))
