"""Write blocks of Markdown: what the chunkers take. Pure.

It is made to be cut and read, not to be rendered: words stay as they are, and only what
would begin a heading or a fence where there is none is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

STRUCTURE: Final = re.compile(
    r"^( {0,3})(#{1,6}(?=\s|$)|`{3}|~{3}|(?:=+|-+)\s*$)", re.MULTILINE
)
TICKS: Final = re.compile(r"`{3,}")


def heading(level: int, words: str) -> str:
    """Return a heading on one line; empty where there are no words."""
    line = " ".join(words.split())
    return f"{'#' * level} {line}" if line else ""


def paragraph(words: str) -> str:
    """Return a paragraph; its lines stay lines."""
    lines = (" ".join(line.split()) for line in words.split("\n"))
    return STRUCTURE.sub(r"\1\\\2", "\n".join(line for line in lines if line))


def verbatim(words: str) -> str:
    """Return a paragraph whose spaces stay: the lines of a page."""
    return STRUCTURE.sub(r"\1\\\2", words.strip("\n"))


def fenced(code: str) -> str:
    """Return code in a fence that nothing in it closes."""
    body = code.strip("\n")
    longest = max((len(run) for run in TICKS.findall(body)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{body}\n{fence}" if body.strip() else ""


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table; the first row is its head. Rows without words are left out."""
    flat = [[_cell(cell) for cell in row] for row in rows]
    filled = [row for row in flat if any(row)]
    if not filled:
        return ""
    columns = zip_longest(*filled, fillvalue="")
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    rule = f"|{' --- |' * max(map(len, filled))}"
    return "\n".join([lines[0], rule, *lines[1:]])


def indented(block: str, first: str, rest: str) -> str:
    """Return a block with a mark before its first line and space before the others."""
    lines = block.split("\n")
    shifted = [f"{rest}{line}" if line.strip() else line for line in lines[1:]]
    return "\n".join([first + lines[0], *shifted])


def _cell(words: str) -> str:
    return " ".join(words.split()).replace("|", "\\|")
