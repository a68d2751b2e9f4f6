"""The picture of the two axes: all in its place, whatever the times and words."""

from __future__ import annotations

import datetime as dt
import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from prism_memory.admin.drawing import MARGIN, NARROW, WIDE, Band, Words, draw
from prism_memory.admin.ticks import ticks

UTC = dt.UTC
WORDS = Words("What was held", "Two versions of one claim.", "now")
MAY = dt.datetime(2025, 5, 1, tzinfo=UTC)
JUNE = dt.datetime(2025, 6, 1, tzinfo=UTC)
JULY = dt.datetime(2025, 7, 1, tzinfo=UTC)

moments = st.datetimes(timezones=st.just(UTC))
printable = st.text(
    st.characters(exclude_categories=("Cc", "Cf", "Cs", "Cn", "Co")), max_size=40
)


@st.composite
def bands(draw_: st.DrawFn) -> Band:
    start, end = draw_(moments), draw_(st.none() | moments)
    return Band(
        claim=draw_(printable),
        status=draw_(st.sampled_from(["accepted", "belief", "proposal", "gated"])),
        label=draw_(printable),
        held=draw_(printable),
        is_held=draw_(st.booleans()),
        valid_from=start,
        valid_to=end if end is None or end > start else None,
    )


def band(**given: object) -> Band:
    defaults = {
        "claim": "Ada",
        "status": "accepted",
        "label": "accepted",
        "held": "held since May",
        "is_held": True,
        "valid_from": MAY,
        "valid_to": None,
    }
    return Band(**{**defaults, **given})  # type: ignore[arg-type]


def parsed(*shown: Band, width: int = WIDE) -> ET.Element:
    svg = draw(shown, now=JULY, width=width, prefix="p", words=WORDS)
    return ET.fromstring(svg)  # noqa: S314 - our own


def of(svg: ET.Element, kind: str) -> list[ET.Element]:
    return [e for e in svg.iter() if kind in e.get("class", "").split()]


def across(shape: ET.Element) -> list[float]:
    return [float(x) for x in re.findall(r"[ML](-?[\d.]+)", shape.get("d", ""))]


@given(st.lists(bands(), min_size=1, max_size=6), st.sampled_from([WIDE, NARROW]))
def test_it_is_well_formed_and_within_its_sheet(shown: list[Band], width: int) -> None:
    svg = parsed(*shown, width=width)
    height = float(svg.get("height", "0"))
    bars = of(svg, "pm-bar")
    assert len(bars) == len(shown)
    for bar, one in zip(bars, shown, strict=True):
        places = across(bar)
        assert min(places) >= 0
        assert max(places) <= width
        assert max(places) - min(places) >= 1
        assert f"pm-bar-{one.status}" in bar.get("class", "")
    for text in svg.iter("text"):
        assert 0 <= float(text.get("y", "-1")) <= height
        assert 0 <= float(text.get("x", "-1")) <= width


@given(st.lists(bands(), min_size=1, max_size=4))
def test_words_stand_beside_each_band(shown: list[Band]) -> None:
    """Nothing is told by colour alone."""
    captions = [text.text or "" for text in of(parsed(*shown), "pm-caption")]
    assert captions == [f"{one.label} · {one.held}" for one in shown]


def test_valid_time_runs_across() -> None:
    svg = parsed(
        band(valid_to=JUNE), band(valid_from=JUNE), band(valid_from=JUNE, valid_to=JULY)
    )
    first, second, third = (across(bar) for bar in of(svg, "pm-bar"))
    assert min(first) == MARGIN
    assert max(first) == min(second) == min(third)
    assert max(second) > max(third), "without an end it goes on to the edge"
    (now,) = of(svg, "pm-now")
    assert float(now.get("x1", "0")) == max(third)


def test_bands_run_down_in_their_order_under_one_heading_each() -> None:
    svg = parsed(band(), band(), band(claim="Bob"))
    tops = [float(b.get("d", "").split()[1]) for b in of(svg, "pm-bar")]
    assert tops == sorted(set(tops))
    assert [text.text for text in of(svg, "pm-claim")] == ["Ada", "Bob"]


def test_what_is_held_no_more_is_told_apart() -> None:
    past, held = of(parsed(band(is_held=False), band()), "pm-bar")
    assert "pm-past" in past.get("class", "")
    assert "pm-past" not in held.get("class", "")


def test_it_has_a_name_and_a_description() -> None:
    svg = parsed(band())
    ids = [f"p-{name}" for name in ("title", "desc")]
    assert svg.get("aria-labelledby") == " ".join(ids)
    named = {e.get("id"): e.text for e in svg.iter() if e.get("id") in ids}
    assert named == {"p-title": WORDS.title, "p-desc": WORDS.description}


def test_words_are_escaped_and_cut() -> None:
    svg = draw(
        [band(claim="<script>&" * 60)], now=JULY, width=NARROW, prefix="p", words=WORDS
    )
    assert "<script" not in svg
    (heading,) = of(ET.fromstring(svg), "pm-claim")  # noqa: S314 - our own
    assert (heading.text or "").endswith("…")
    assert len(heading.text or "") < 60


def test_nothing_is_drawn_of_nothing() -> None:
    assert draw([], now=JULY, width=WIDE, prefix="p", words=WORDS) == ""


@given(moments, moments, st.integers(1, 12))
def test_ticks_are_few_in_order_and_inside(
    one: dt.datetime, other: dt.datetime, most: int
) -> None:
    start, end = sorted([one, other])
    if start == end:
        return
    found = ticks(start, end, most)
    places = [moment for moment, _ in found]
    assert len(found) <= 2 * most + 1
    assert places == sorted(set(places))
    assert all(start <= place <= end for place in places)


def test_ticks_are_round() -> None:
    labels = [label for _, label in ticks(MAY, dt.datetime(2026, 3, 1, tzinfo=UTC), 6)]
    assert labels == ["2025-07", "2025-10", "2026-01"]
    noon = MAY + dt.timedelta(hours=12)
    assert [label for _, label in ticks(MAY, noon, 4)] == [
        f"05-01 {hour:02}:00" for hour in (0, 3, 6, 9, 12)
    ]
    centuries = ticks(dt.datetime(1000, 1, 1, tzinfo=UTC), MAY, 3)
    assert [label for _, label in centuries] == ["1000", "1500", "2000"]
