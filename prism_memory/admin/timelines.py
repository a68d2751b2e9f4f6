"""What was held of a claim, and of those it replaced, when: a picture and a table."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from prism_memory.admin.badges import Tone, badges, moment
from prism_memory.admin.cards import TONES
from prism_memory.admin.characters import marked, shown
from prism_memory.admin.content import short_label
from prism_memory.admin.drawing import NARROW, WIDE, Band, Words, draw
from prism_memory.admin.items import records_of
from prism_memory.admin.parts import Section
from prism_memory.admin.using import using
from prism_memory.admin.words import previews_of
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.models import Fact, FactVersion, GateState, Record

MOST_FACTS: Final = 12
MOST_VERSIONS: Final = 60
HEADING: Final = 90
"""Characters of a claim over its bands."""
SHORT: Final = 48
"""And in the table."""


@dataclass(frozen=True)
class Timeline:
    """Pictures for a wide and for a narrow window, and the same as a table."""

    wide: SafeString
    narrow: SafeString
    table: Section


def timeline_of(fact: Fact, *, gated: bool) -> Timeline:
    """Return the history of a fact's chain. Four queries."""
    chain = _chain(fact)
    rows = FactVersion.objects.using(using()).filter(
        tenant=fact.tenant, fact_id__in=chain
    )
    latest = list(rows.order_by("-recorded_from", "-id")[: MOST_VERSIONS + 1])
    versions = sorted(latest[:MOST_VERSIONS], key=lambda v: v.recorded_from)
    names = _names(fact, records_of(fact.tenant, chain), gated=gated)
    ordered = _by_fact(versions)
    bands = [_band(one, names[one.fact_id]) for one in ordered if one.fact_id in names]
    return Timeline(
        wide=_picture(bands, WIDE, "pm-wide"),
        narrow=_picture(bands, NARROW, "pm-narrow"),
        table=_table(ordered, names, cut=len(latest) > MOST_VERSIONS),
    )


def _chain(fact: Fact) -> list[uuid.UUID]:
    """Return the facts that replaced each other, and those that wait to."""
    given = {
        "tenant": fact.tenant,
        "scope_ids": [fact.scope_id],
        "fact_id": fact.id,
        "rows": MOST_FACTS,
    }
    found = [
        row["id"] for row in queries.fetch(using(), named("facts")["chain"], given)
    ]
    return found if fact.id in found else [fact.id, *found]


def _by_fact(versions: Sequence[FactVersion]) -> list[FactVersion]:
    """Return the versions of each fact together, the fact that came first on top."""
    place: dict[uuid.UUID, int] = {}
    for version in versions:
        place.setdefault(version.fact_id, len(place))
    return sorted(versions, key=lambda v: (place[v.fact_id], v.recorded_from))


def _names(
    fact: Fact, records: Mapping[uuid.UUID, Record], *, gated: bool
) -> dict[uuid.UUID, str]:
    """Return what each claim is called over its bands; by its words where they show."""
    texts = previews_of(records.values(), gated=gated)
    names = {}
    for fact_id, record in records.items():
        words = marked(texts[fact_id]) if fact_id in texts else _("withheld")
        short = Truncator(words.replace("\n", " ")).chars(HEADING)
        own = _("This claim") if fact_id == fact.id else short_label(record)
        names[fact_id] = f"{marked(own)}: {short}"
    return names


def _band(version: FactVersion, claim: str) -> Band:
    gated = version.gate != GateState.OPEN
    until = version.recorded_to
    since = _said(version.recorded_from)
    held = (
        _("held since %(since)s") % {"since": since}
        if until is None
        else _("held %(since)s to %(until)s") % {"since": since, "until": _said(until)}
    )
    return Band(
        claim=claim,
        status="gated" if gated else version.acceptance,
        label=", ".join(str(label) for label, _tone in _states(version)),
        held=held,
        is_held=until is None,
        valid_from=_local(version.valid_from),
        valid_to=None if version.valid_to is None else _local(version.valid_to),
    )


def _states(version: FactVersion) -> list[tuple[Any, Tone]]:
    found: list[tuple[Any, Tone]] = [
        (version.get_acceptance_display().lower(), TONES[version.acceptance])
    ]
    if version.gate != GateState.OPEN:
        found.append((version.get_gate_display().lower(), "warn"))
    return found


def _local(value: dt.datetime) -> dt.datetime:
    """Return a time in the viewer's zone; as it is where the calendar ends."""
    try:
        return timezone.localtime(value)
    except OverflowError:
        return value


def _said(value: dt.datetime) -> str:
    return date_format(_local(value), "Y-m-d H:i:s")


def _picture(bands: Sequence[Band], width: int, prefix: str) -> SafeString:
    claims = len({band.claim for band in bands})
    text = ngettext(
        "%(versions)s versions of %(claims)s claim.",
        "%(versions)s versions of %(claims)s claims.",
        claims,
    ) % {"versions": len(bands), "claims": claims}
    more = _(
        "Valid time runs across, recorded time down. A table with the same follows."
    )
    words = Words(_("What was held, and when"), f"{text} {more}", _("now"))
    now = _local(timezone.now())
    # Every word in it is escaped there.
    return mark_safe(  # noqa: S308
        draw(bands, now=now, width=width, prefix=prefix, words=words)
    )


def _table(
    versions: Sequence[FactVersion], names: Mapping[uuid.UUID, str], *, cut: bool
) -> Section:
    rows = [
        (
            shown(Truncator(names.get(one.fact_id, "")).chars(SHORT)),
            badges(_states(one)),
            _between(one.valid_from, one.valid_to, _("open")),
            _between(one.recorded_from, one.recorded_to, _("held now")),
            one.get_cause_display(),
            shown(one.actor),
            shown(one.reason),
        )
        for one in versions
    ]
    return Section(
        _("The same as a table"),
        rows,
        headers=(
            *(_("Claim"), _("State"), _("Valid, in the world"), _("Held, in memory")),
            *(_("Because it was"), _("By"), _("Reason")),
        ),
        empty=_("It has no version."),
        note=_("Only the latest 60 versions are shown.") if cut else "",
    )


def _between(start: dt.datetime, end: dt.datetime | None, open_: str) -> SafeString:
    return format_html("{} {}<br>{}", moment(start), _("to"), moment(end, open_))
