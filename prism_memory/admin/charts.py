"""Draw a day as bars, one an hour, as an SVG. Pure.

How much the most was stands beside the line of it, and the last hour's in the heading;
an hour of which nothing is known has a mark below the axis and no bar.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from prism_memory.admin.drawing import line_at, tag, text_at

WIDTH: Final = 340
HEIGHT: Final = 120
LEFT: Final = 4
TOP: Final = 20
"""Room for how much the most was."""
FLOOR: Final = 98
GAP: Final = 2.0
LEAST: Final = 2.0
"""A bar of something is never lower; what is nothing has none."""
EVERY: Final = 6
"""Hours between two labels."""


@dataclass(frozen=True)
class Bar:
    """One hour.

    Args:
        label: Its beginning, such as ``14:00``.
        value: How much; None where nobody looked.
    """

    label: str
    value: int | None


def draw_day(
    bars: Sequence[Bar], *, title: str, told: str, prefix: str, kind: str = "usual"
) -> str:
    """Return the picture of a day.

    Args:
        told: What it shows, for who cannot see it.
        prefix: Of ids, so that several pictures fit on one page.
        kind: ``usual``, or ``bad`` for what there should be none of.
    """
    most = max((bar.value or 0 for bar in bars), default=0)
    inner = [
        tag("title", escape(title), id=f"{prefix}-title"),
        tag("desc", escape(told), id=f"{prefix}-desc"),
        text_at("pm-axis", LEFT, TOP - 6, f"{most:,}"),
        _level("pm-tick", TOP),
        _level("pm-axis-line", FLOOR),
        *_bars(bars, most, kind),
    ]
    return tag(
        "svg",
        "".join(inner),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=f"{WIDTH}",
        height=f"{HEIGHT}",
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        class_="pm-drawing pm-chart",
    )


def _bars(bars: Sequence[Bar], most: int, kind: str) -> Iterator[str]:
    step = (WIDTH - 2 * LEFT) / max(1, len(bars))
    for place, bar in enumerate(bars):
        left = LEFT + place * step
        if bar.value:
            high = max(LEAST, bar.value / most * (FLOOR - TOP))
            yield tag(
                "rect",
                x=f"{left + GAP / 2:.1f}",
                y=f"{FLOOR - high:.1f}",
                width=f"{step - GAP:.1f}",
                height=f"{high:.1f}",
                class_=f"pm-column pm-column-{kind}",
            )
        if bar.value is None:
            yield line_at("pm-unknown", left + step / 2, FLOOR + 1, FLOOR + 4)
        if place % EVERY == 0:
            yield text_at("pm-axis", left, HEIGHT - 6, bar.label)


def _level(kind: str, y: float) -> str:
    return tag(
        "line",
        x1=f"{LEFT}",
        x2=f"{WIDTH - LEFT}",
        y1=f"{y:g}",
        y2=f"{y:g}",
        class_=kind,
    )
