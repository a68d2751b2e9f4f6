"""What each line of a Markdown text is: a heading, inside a fence, blank. Pure.

Only so much of CommonMark as says where a text may be cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*\Z)|~{3,})")
ATX: Final = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t]+(?P<title>.*?))?[ \t]*\Z")
CLOSING: Final = re.compile(r"(?:\A|[ \t]+)#+\Z")
SETEXT: Final = re.compile(r" {0,3}(?P<mark>=+|-+)[ \t]*\Z")
NO_TITLE: Final = re.compile(r" {4}|\t| {0,3}(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]|\||<)")
"""What begins no paragraph: code, a quotation, a list, a table, HTML."""

TITLE_CHARACTERS: Final = 200
"""Of a heading that are kept: it is a label."""


@dataclass(frozen=True, slots=True)
class Section:
    """Lines from a heading on, up to the next.

    Args:
        first: Index of its first line.
        last: Index of its last line, inclusive.
        heading: Titles that it stands under, its own the last.
    """

    first: int
    last: int
    heading: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that begins at a line."""

    line: int
    level: int
    title: str


def fences(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and last line of each fenced block, in order.

    One that nothing closes goes on to the last line that is not blank.
    """
    found: list[tuple[int, int]] = []
    opened, mark = -1, ""
    for index, line in enumerate(lines):
        match = FENCE.match(line)
        if opened < 0:
            if match:
                opened, mark = index, match["mark"]
        elif _closes(line, mark):
            found.append((opened, index))
            opened = -1
    if opened >= 0:
        last = len(lines) - 1
        while not lines[last].strip():
            last -= 1
        found.append((opened, last))
    return found


def _closes(line: str, mark: str) -> bool:
    bare = line.strip()
    indent = len(line) - len(line.lstrip(" "))
    return indent < 4 and len(bare) >= len(mark) and set(bare) == {mark[0]}


def sections(
    lines: Sequence[str], fenced: Sequence[tuple[int, int]]
) -> Iterator[Section]:
    """Yield the sections of a text, in order; what is before the first heading too."""
    first = 0
    path: list[Heading] = []
    for heading in _headings(lines, fenced):
        if heading.line > first:
            yield _section(first, heading.line - 1, path)
        first = heading.line
        path = [above for above in path if above.level < heading.level]
        path.append(heading)
    yield _section(first, len(lines) - 1, path)


def _section(first: int, last: int, path: Sequence[Heading]) -> Section:
    return Section(first, last, tuple(heading.title for heading in path))


def _headings(
    lines: Sequence[str], fenced: Sequence[tuple[int, int]]
) -> Iterator[Heading]:
    inside = {index for first, last in fenced for index in range(first, last + 1)}
    before = blank = True
    for index, line in enumerate(lines):
        if index in inside:
            before = blank = False
            continue
        if match := ATX.match(line):
            title = CLOSING.sub("", match["title"] or "")
            yield Heading(index, len(match["level"]), _label(title))
            before, blank = True, True
            continue
        under = index + 1 < len(lines) and index + 1 not in inside
        mark = SETEXT.match(lines[index + 1]) if under else None
        if mark and before and _is_title(line):
            yield Heading(index, 1 if mark["mark"][0] == "=" else 2, _label(line))
        blank = not line.strip()
        before = blank


def _is_title(line: str) -> bool:
    return bool(line.strip()) and not NO_TITLE.match(line) and not SETEXT.match(line)


def _label(title: str) -> str:
    return " ".join(title.split())[:TITLE_CHARACTERS]
