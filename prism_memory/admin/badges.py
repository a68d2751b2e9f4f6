"""Small labels. The words say it; the colour only helps the eye."""

from __future__ import annotations

import datetime as dt
from typing import Any, Literal

from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

Tone = Literal["good", "quiet", "warn", "bad"]

NOTHING = "\N{EN DASH}"


def badge(label: object, tone: Tone = "quiet") -> SafeString:
    """Return a label in a colour."""
    return format_html('<span class="pm-badge pm-{}">{}</span>', tone, label)


def badges(labels: list[tuple[Any, Tone]]) -> SafeString:
    """Return several labels."""
    return format_html_join(" ", "{}", ((badge(*label),) for label in labels))


def moment(value: dt.datetime | None, empty: object = NOTHING) -> object:
    """Return a time in the viewer's zone, to the second, or ``empty``."""
    if value is None:
        return empty
    local = localtime(value)
    return format_html(
        '<time datetime="{}">{}</time>',
        value.isoformat(),
        date_format(local, "Y-m-d H:i:s"),
    )


def number(value: int, *, most: int | None = None) -> str:
    """Return a count; ``1,000+`` where counting stopped at ``most``."""
    if most is not None and value > most:
        return f"{most:,}+"
    return f"{value:,}"
