"""The charts of the last day, and the same as a table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from prism_memory import metrics
from prism_memory.admin.badges import NOTHING, number
from prism_memory.admin.charts import Bar, draw_day
from prism_memory.admin.parts import Section
from prism_memory.admin.using import using
from prism_memory.db import queries
from prism_memory.db.queries import named
from prism_memory.metrics.readings import HOUR, hour_of

HOURS: Final = 24
MOST_COUNTED: Final = 100_000
"""Rows of a day that are counted at most."""

BAD: Final = frozenset({"failed", "failed_runs"})
"""Counts of which there should be none."""

Values = Mapping[dt.datetime, int]


@dataclass(frozen=True)
class Series:
    """What one chart is of.

    Args:
        short: The title as a table's header.
        values: By the hour.
        known: Hours that are known; the others have nothing to be told.
    """

    name: str
    title: str
    short: str
    values: Values
    known: frozenset[dt.datetime]


@dataclass(frozen=True)
class Chart:
    """A picture and what stands over it."""

    title: str
    last: str
    picture: SafeString


def hours_until(now: dt.datetime) -> list[dt.datetime]:
    """Return when each of the last 24 hours began, this one's last."""
    last = hour_of(now)
    return [last - HOUR * back for back in reversed(range(HOURS))]


def stood(
    points: Sequence[metrics.Point], chosen: Mapping[str, tuple[object, object]]
) -> list[Series]:
    """Return what was read by the hour.

    Args:
        chosen: Titles by the names of counts, each with a short one.
    """
    known = frozenset(point.hour for point in points)
    return [
        Series(
            name,
            str(title),
            str(short),
            {point.hour: point.counts.get(name, 0) for point in points},
            known,
        )
        for name, (title, short) in chosen.items()
    ]


def happened(tenant: str, now: dt.datetime) -> list[Series]:
    """Return what happened by the hour, of rows that are there anyway. Two queries."""
    hours = frozenset(hours_until(now))
    given = {"tenant": tenant, "since": min(hours), "most": MOST_COUNTED}
    found = {
        name: {
            row["hour"]: row["count"]
            for row in queries.fetch(using(), named("metrics")[name], given)
        }
        for name in ("day_of_recalls", "day_of_acts")
    }
    recalls = _("Recalls of which a trace is kept")
    acts = _("Governing acts")
    return [
        Series("recalls", recalls, _("Recalls"), found["day_of_recalls"], hours),
        Series("acts", acts, _("Acts"), found["day_of_acts"], hours),
    ]


def charts(series: Sequence[Series], now: dt.datetime) -> list[Chart]:
    """Return a picture of each."""
    hours = hours_until(now)
    return [_chart(one, hours) for one in series]


def as_table(series: Sequence[Series], now: dt.datetime) -> Section:
    """Return the same as a table, the latest hour first."""
    rows = [
        (_label(hour), *(_value(one, hour) for one in series))
        for hour in reversed(hours_until(now))
    ]
    return Section(
        _("The same as a table"),
        rows,
        headers=(_("Hour"), *(one.short for one in series)),
        note=_("Of what waits, the most within each hour; times are yours."),
    )


def _chart(one: Series, hours: Sequence[dt.datetime]) -> Chart:
    bars = [Bar(_label(hour), _known(one, hour)) for hour in hours]
    most = max((bar.value or 0 for bar in bars), default=0)
    told = _("By the hour, over the last day; the most was %(most)s.") % {
        "most": number(most)
    }
    last = bars[-1].value
    kind = "bad" if one.name in BAD else "usual"
    picture = draw_day(
        bars, title=one.title, told=told, prefix=f"day-{one.name}", kind=kind
    )
    shown = NOTHING if last is None else number(last)
    return Chart(
        one.title,
        _("this hour: %(last)s") % {"last": shown},
        mark_safe(picture),  # noqa: S308 - every word in it is escaped there
    )


def _known(one: Series, hour: dt.datetime) -> int | None:
    return one.values.get(hour, 0) if hour in one.known else None


def _value(one: Series, hour: dt.datetime) -> Any:  # noqa: ANN401 - what a cell shows
    value = _known(one, hour)
    return NOTHING if value is None else number(value)


def _label(hour: dt.datetime) -> str:
    return date_format(localtime(hour), "H:i")
