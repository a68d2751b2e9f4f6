"""Draw what was held of claims, and when, as an SVG. Pure.

Valid time runs across. Each version is a band, in the order in which it was recorded,
so recorded time runs down. What a version is stands beside it in words: pattern and
colour repeat it. Colours are the style sheet's, by class.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Final

from prism_memory.admin.scale import Scale, scale_of
from prism_memory.admin.ticks import ticks

WIDE: Final = 960
NARROW: Final = 340
MARGIN: Final = 6
AXIS: Final = 22
"""Height of what names the marks."""
LINE: Final = 16
"""Height of a line of text."""
BAR: Final = 14
GAP: Final = 10
SLACK: Final = 2
"""Between a line of text and its bar."""
ARROW: Final = 8
LEAST: Final = 3
"""A bar that is shorter could not be seen."""
LETTER: Final = 6.6
"""About the width of a letter; longer headings are cut."""
TICK_WIDTH: Final = 80

PATTERNS: Final = {
    "belief": '<path class="pm-line" d="M0 8 L8 0"/>',
    "proposal": '<circle class="pm-dot" cx="4" cy="4" r="1.6"/>',
    "gated": '<path class="pm-line" d="M0 8 L8 0 M0 0 L8 8"/>',
}
"""By status, what is laid over a bar. Nothing over what is accepted."""


@dataclass(frozen=True)
class Band:
    """One version of a claim.

    Args:
        claim: Which claim; its versions follow each other under one heading.
        status: ``accepted``, ``belief``, ``proposal`` or ``gated``.
        label: What it is, in words.
        held: Since when it was held and until when, in words.
        is_held: Whether it is held now.
        valid_from: Since when it holds in the world; aware, in the zone that is shown.
        valid_to: Until when; None while it holds.
    """

    claim: str
    status: str
    label: str
    held: str
    is_held: bool
    valid_from: dt.datetime
    valid_to: dt.datetime | None


@dataclass(frozen=True)
class Words:
    """What a picture is called, and what it is for who cannot see it."""

    title: str
    description: str
    now: str


def draw(
    bands: Sequence[Band], *, now: dt.datetime, width: int, prefix: str, words: Words
) -> str:
    """Return the picture of bands, the first on top; empty for none.

    Args:
        now: Where the line of the present is; aware, in the bands' zone.
        width: In pixels; a narrow one has two lines of text to a band.
        prefix: Of ids, so that two pictures fit on one page.
    """
    if not bands:
        return ""
    sheet = Sheet(_scale(bands, now, width), width, prefix)
    rows = list(sheet.rows(bands))
    height = sheet.below
    inner = [
        tag("title", escape(words.title), id=f"{prefix}-title"),
        tag("desc", escape(words.description), id=f"{prefix}-desc"),
        tag("defs", "".join(sheet.patterns())),
        *sheet.axis(height),
        *rows,
        *sheet.present(now, height, words.now),
    ]
    return tag(
        "svg",
        "".join(inner),
        viewBox=f"0 0 {width} {height:g}",
        width=f"{width}",
        height=f"{height:g}",
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        class_="pm-drawing",
    )


def _scale(bands: Sequence[Band], now: dt.datetime, width: int) -> Scale:
    starts = [band.valid_from for band in bands]
    ends = [band.valid_to for band in bands if band.valid_to]
    right = width - MARGIN - ARROW * 3
    return scale_of([*starts, *ends, now], left=MARGIN, right=right)


class Sheet:
    """Where the next thing goes."""

    def __init__(self, scale: Scale, width: int, prefix: str) -> None:
        self.scale = scale
        self.width = width
        self.prefix = prefix
        self.below: float = AXIS + GAP

    def patterns(self) -> Iterator[str]:
        """Return what bars are filled with."""
        for name, inner in PATTERNS.items():
            yield tag(
                "pattern",
                inner,
                id=f"{self.prefix}-{name}",
                width="8",
                height="8",
                patternUnits="userSpaceOnUse",
            )

    def axis(self, height: float) -> Iterator[str]:
        """Return the marks of valid time, over the whole height."""
        most = max(1, int(self.width // TICK_WIDTH))
        last = float("-inf")
        for moment, label in ticks(self.scale.start, self.scale.end, most):
            x = self.scale.at(moment)
            yield line_at("pm-tick", x, AXIS, height)
            room = len(label) * LETTER
            if x >= last and x + room <= self.width:
                yield text_at("pm-axis", x, AXIS - 8, label)
                last = x + room + GAP

    def rows(self, bands: Sequence[Band]) -> Iterator[str]:
        """Return headings and bands, each below the one before."""
        for claim, versions in groupby(bands, key=lambda band: band.claim):
            self.below += LINE
            yield text_at("pm-claim", MARGIN, self.below - 4, self._cut(claim))
            for band in versions:
                yield from self._band(band)
            self.below += GAP

    def _band(self, band: Band) -> Iterator[str]:
        captions = [band.label, band.held]
        if self.width >= WIDE:
            captions = [" · ".join(captions)]
        for caption in captions:
            self.below += LINE
            yield text_at("pm-caption", MARGIN, self.below - 4, self._cut(caption))
        yield from self._bar(band, self.below + SLACK)
        self.below += SLACK + BAR + GAP

    def _bar(self, band: Band, top: float) -> Iterator[str]:
        left = self.scale.at(band.valid_from)
        right = self.scale.right + ARROW
        if band.valid_to is not None:
            right = max(left + LEAST, self.scale.at(band.valid_to))
        else:
            left = min(left, self.scale.right)
        shape = _shape(left, right, top, is_open=band.valid_to is None)
        held = "" if band.is_held else " pm-past"
        yield tag("path", d=shape, class_=f"pm-bar pm-bar-{band.status}{held}")
        if band.status in PATTERNS:
            fill = f"url(#{self.prefix}-{band.status})"
            yield tag("path", d=shape, fill=fill, class_=f"pm-fill{held}")

    def present(self, now: dt.datetime, height: float, label: str) -> Iterator[str]:
        """Return the line of the present."""
        x = self.scale.at(now)
        yield line_at("pm-now", x, AXIS, height)
        room = len(label) * LETTER
        yield text_at("pm-now-label", min(x + 3, self.width - room), height - 3, label)

    def _cut(self, text: str) -> str:
        most = int((self.width - 2 * MARGIN) / LETTER)
        return text if len(text) <= most else f"{text[: most - 1]}…"


def _shape(left: float, right: float, top: float, *, is_open: bool) -> str:
    """Return a bar; one without an end is an arrow."""
    low, middle = top + BAR, top + BAR / 2
    point = f"L{right + ARROW:.1f} {middle:.1f} " if is_open else ""
    return (
        f"M{left:.1f} {top:.1f} L{right:.1f} {top:.1f} {point}"
        f"L{right:.1f} {low:.1f} L{left:.1f} {low:.1f} Z"
    )


def line_at(kind: str, x: float, top: float, low: float) -> str:
    return tag(
        "line",
        x1=f"{x:.1f}",
        x2=f"{x:.1f}",
        y1=f"{top:g}",
        y2=f"{low:g}",
        class_=kind,
    )


def text_at(kind: str, x: float, y: float, words: str) -> str:
    return tag("text", escape(words), x=f"{x:.1f}", y=f"{y:g}", class_=kind)


def tag(name: str, inner: str = "", **attributes: str) -> str:
    """Return an element; ``inner`` is markup, attributes are escaped."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{inner}</{name}>"
