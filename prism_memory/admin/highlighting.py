"""Show where rules of the gate matched in a text. Pure but for Django's escaping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from prism_memory.admin.characters import shown
from prism_memory.gate import Marker

Piece = tuple[str, tuple[str, ...]]
"""Words, and the rules that matched there."""


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
    """Yield a text in pieces, each with the rules that matched over all of it.

    Together they are the text, whatever the markers are.
    """
    spans = [
        (max(0, one.start), min(len(text), one.end), one.rule)
        for one in markers
        if one.field == "text" and one.start < one.end
    ]
    edges = {0, len(text)}
    for start, end, _ in spans:
        edges |= {start, end} if start < end else set()
    ordered = sorted(edges)
    for start, end in zip(ordered, ordered[1:], strict=False):
        rules = [rule for first, last, rule in spans if first <= start and end <= last]
        yield text[start:end], tuple(dict.fromkeys(rules))


def highlighted(text: str, markers: Sequence[Marker]) -> SafeString:
    """Return a text as HTML: escaped, nothing hidden, what matched marked and named."""
    return format_html_join("", "{}", ((_piece(*one),) for one in pieces(text, markers)))


def _piece(words: str, rules: tuple[str, ...]) -> Any:  # noqa: ANN401 - a SafeString
    if not rules:
        return shown(words)
    return format_html(
        '<mark class="pm-mark">{}<span class="pm-rule">{}</span></mark>',
        shown(words),
        shown(", ".join(rules)),
    )


def elsewhere(markers: Sequence[Marker]) -> list[str]:
    """Return the rules that no words of the text are marked with: of the metadata, or
    what a classifier said."""
    found = [one.rule for one in markers if one.field != "text" or one.start >= one.end]
    return list(dict.fromkeys(found))
