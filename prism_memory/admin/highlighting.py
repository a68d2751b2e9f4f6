"""Show where rules of the gate matched in a text. Pure but for Django's escaping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from prism_memory.admin.characters import shown
from prism_memory.gate import Marker

Piece = tuple[str, tuple[str, ...]]
"""Words, and the rules that matched in them."""


def stored_markers(stored: object) -> list[Marker]:
    """Return the markers of a record, without what is none."""
    if not isinstance(stored, Sequence) or isinstance(stored, str):
        return []
    return [marker for one in stored if (marker := _marker(one))]


def _marker(stored: object) -> Marker | None:
    if not isinstance(stored, Mapping) or not isinstance(stored.get("rule"), str):
        return None
    start, end = stored.get("start"), stored.get("end")
    if not isinstance(start, int) or not isinstance(end, int):
        return None
    return Marker(stored["rule"], start, end, str(stored.get("field", "text")))


def pieces(text: str, markers: Sequence[Marker]) -> Iterator[Piece]:
    """Yield a text in pieces: where rules matched, with those, and what is between.

    What overlaps or touches is one piece. Together they are the text, whatever the
    markers are.
    """
    end = 0
    for start, stop, rules in _runs(text, markers):
        if start > end:
            yield text[end:start], ()
        yield text[start:stop], rules
        end = stop
    if end < len(text):
        yield text[end:], ()


def _runs(
    text: str, markers: Sequence[Marker]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    start = stop = 0
    rules: dict[str, None] = {}
    for marker in sorted(_placed(text, markers), key=lambda m: (m.start, m.end)):
        if rules and marker.start > stop:
            yield start, stop, tuple(rules)
            rules = {}
        if not rules:
            start, stop = marker.start, marker.end
        stop = max(stop, marker.end)
        rules[marker.rule] = None
    if rules:
        yield start, stop, tuple(rules)


def _placed(text: str, markers: Sequence[Marker]) -> Iterator[Marker]:
    """Yield the markers that are at some place of the text, cut where it ends."""
    for one in markers:
        start, end = max(0, one.start), min(len(text), one.end)
        if one.field == "text" and start < end:
            yield Marker(one.rule, start, end)


def highlighted(text: str, markers: Sequence[Marker]) -> SafeString:
    """Return a text as HTML: escaped, nothing hidden, what matched marked and named."""
    return format_html_join(
        "", "{}", ((_piece(*one),) for one in pieces(text, markers))
    )


def _piece(words: str, rules: tuple[str, ...]) -> Any:  # noqa: ANN401 - a SafeString
    if not rules:
        return shown(words)
    return format_html(
        '<mark class="pm-mark">{}</mark><span class="pm-rule">{}</span>',
        shown(words),
        shown(", ".join(rules)),
    )


def elsewhere(markers: Sequence[Marker]) -> list[str]:
    """Return the rules that mark no words: of the metadata, or a classifier's."""
    found = [one.rule for one in markers if one.field != "text" or one.start >= one.end]
    return list(dict.fromkeys(found))
