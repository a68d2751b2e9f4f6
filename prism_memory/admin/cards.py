"""Claims and what they rest on, as cards of a page."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from prism_memory.admin import links
from prism_memory.admin.badges import Tone, badge, badges, moment
from prism_memory.admin.characters import shown
from prism_memory.admin.content import edited, reasons, short_label
from prism_memory.admin.highlighting import elsewhere, highlighted
from prism_memory.admin.items import Item, items_of, records_of
from prism_memory.admin.using import using
from prism_memory.models import Evidence, Fact, LineageEdge, Record
from prism_memory.redaction import Redaction
from prism_memory.types import Closing, record_ids

TONES: Final[dict[str, Tone]] = {
    "accepted": "good",
    "belief": "quiet",
    "proposal": "warn",
}
MOST_RIVALS: Final = 20
MOST_CITING: Final = 1_000
"""Citations that are looked at."""

Pairs = Sequence[tuple[object, object]]


@dataclass(frozen=True)
class Card:
    """What one record says, who says so, and how it stands.

    Args:
        triple: Subject, predicate and value of a fact, where they may be read.
        text: As HTML; None where it is withheld.
        rules: That matched, but at no place of the text.
        why_withheld: Where it is.
        address: Of the record's own page, where withheld words are revealed.
        facts: More, labelled.
    """

    title: object
    states: object
    triple: Pairs
    text: object
    rules: Sequence[object]
    why_withheld: object
    address: str
    facts: Pairs


def card(item: Item, title: object) -> Card:
    """Return a record, or a fact with all it claims."""
    return Card(
        title=title,
        states=states(item),
        triple=_triple(item),
        text=highlighted(item.words.text, item.words.markers) if item.words else None,
        rules=[shown(rule) for rule in elsewhere(item.words.markers)]
        if item.words
        else [],
        why_withheld=None if item.words else _withheld(item),
        address=links.row_page(item.record),
        facts=_about(item),
    )


def states(item: Item) -> Any:  # noqa: ANN401 - a SafeString
    """Return how a claim or a record stands, as badges."""
    found: list[tuple[Any, Tone]] = []
    if item.version is not None:
        acceptance = item.version.acceptance
        found.append((item.version.get_acceptance_display(), TONES[acceptance]))
    else:
        found.append((item.record.get_kind_display(), "quiet"))
    if item.is_gated:
        found.append((item.record.get_gate_display(), "warn"))
    if item.fact is not None:
        found += fact_states(item.fact)
    return badges(found)


def fact_states(fact: Fact) -> list[tuple[Any, Tone]]:
    """Return why a fact is open no more, and what it waits for."""
    found: list[tuple[Any, Tone]] = []
    if fact.closing:
        tone: Tone = "quiet" if fact.closing == Closing.SUPERSEDED else "bad"
        found.append((fact.get_closing_display(), tone))
    if fact.archived_at is not None:
        found.append((_("archived"), "quiet"))
    if fact.pending_supersedes is not None:
        found.append((_("waits to replace another"), "warn"))
    return found


def _triple(item: Item) -> Pairs:
    if item.fact is None or item.words is None or not item.fact.subject:
        return ()
    said = (
        (_("Subject"), item.fact.subject),
        (_("Predicate"), item.fact.predicate),
        (_("Value"), item.fact.value),
    )
    mask = Redaction.configured().mask
    return [(label, shown(mask(words))) for label, words in said]


def subject_of(item: Item) -> str:
    """Return whom or what a fact is about, without secrets; empty for none."""
    if item.fact is None:
        return ""
    return Redaction.configured().mask(item.fact.subject)


def _withheld(item: Item) -> Any:  # noqa: ANN401 - a SafeString
    if item.fact is not None and item.fact.closing == Closing.FORGOTTEN:
        return badge(_("forgotten"), "bad")
    is_edited = bool(edited([item.record]))
    now = timezone.now()
    return badges(reasons(item.record, now, is_edited=is_edited, timeless=True))


def _about(item: Item) -> Pairs:
    record, fact, version = item.record, item.fact, item.version
    pairs: list[tuple[object, object]] = [
        (_("Trust"), badge(record.get_trust_display())),
        (_("Writer"), shown(record.writer)),
        _source(record),
    ]
    if version is not None:
        pairs += [
            (_("Valid from"), moment(version.valid_from)),
            (_("Valid until"), moment(version.valid_to, _("open"))),
        ]
    if fact is not None and fact.provenance:
        pairs.append((_("Provenance"), badge(fact.get_provenance_display())))
    if fact is not None and fact.confidence is not None:
        pairs.append((_("Confidence"), f"{fact.confidence:.2f}"))
    page = links.row_page(fact if fact is not None else record)
    pairs.append((_("Page"), links.anchor(page, short_label(record))))
    return pairs


def _source(record: Record) -> tuple[object, object]:
    """Return where a record comes from, or when it was said."""
    if record.source is None:
        return _("Said"), moment(record.happened_at or record.created_at)
    link = links.anchor(links.row_page(record.source), record.source.key)
    if record.line_start is None:
        place = format_html("{} · {} {}", link, _("place"), record.ordinal)
        return _("Source"), place
    lines = (_("lines"), record.line_start, _("to"), record.line_end)
    return _("Source"), format_html("{} · {} {} {} {}", link, *lines)


def evidence_of(item: Item, *, gated: bool) -> list[Card]:
    """Return what a record rests on, in order: what a fact cites. Five queries."""
    record = item.record
    edges = LineageEdge.objects.using(using()).filter(
        tenant=record.tenant, record=record.id
    )
    refs = list(edges.order_by("position").values_list("source_ref", flat=True))
    ids = [cited for ref in refs for cited in record_ids([ref])]
    rows = records_of(record.tenant, ids)
    items = items_of([rows[one] for one in ids if one in rows], gated=gated)
    return [
        card(one, _("Evidence %(n)s") % {"n": n})
        for n, one in enumerate(items.values(), 1)
    ]


def replaced_by(item: Item, *, gated: bool) -> list[Card]:
    """Return what a claim waits to replace, else the nearest that it conflicts with.

    Up to four queries.
    """
    fact, met = item.fact, item.conflict
    if fact is None:
        return []
    title, ids = _("To be replaced"), [fact.pending_supersedes]
    if fact.pending_supersedes is None:
        title, ids = _("The nearest older claim"), [*met.others[:1]] if met else []
    rows = records_of(fact.tenant, [one for one in ids if one])
    items = items_of(rows.values(), gated=gated)
    return [card(one, title) for one in items.values()]


def same_as(item: Item) -> list[uuid.UUID]:
    """Return ids of open facts of the same subject and predicate there. One query.

    None where the words are withheld: they would tell whom it is about.
    """
    fact = item.fact
    if fact is None or item.words is None or not fact.folded_subject:
        return []
    rows = Fact.objects.using(using()).filter(
        tenant=fact.tenant,
        scope=fact.scope_id,
        folded_subject=fact.folded_subject,
        predicate=fact.predicate,
        closed_at=None,
    )
    # What it waits to replace is shown beside it.
    met = item.conflict.others[:1] if item.conflict else []
    known = [i for i in (fact.id, fact.pending_supersedes, *met) if i]
    ids = rows.exclude(id__in=known).order_by("-id").values_list("id", flat=True)
    return list(ids[:MOST_RIVALS])


def cited_beside(item: Item) -> dict[uuid.UUID, int]:
    """Return how much evidence other facts share with one, the most first.

    Two queries.
    """
    if item.fact is None:
        return {}
    rows = Evidence.objects.using(using()).filter(tenant=item.fact.tenant)
    cited = list(rows.filter(fact=item.fact.id).values_list("record_id", flat=True))
    others = rows.filter(record_id__in=cited).exclude(fact=item.fact.id)
    counts: dict[uuid.UUID, int] = {}
    for fact_id in others.values_list("fact_id", flat=True)[:MOST_CITING]:
        counts[fact_id] = counts.get(fact_id, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
