"""From what opens, is said and closes on a page to blocks of Markdown. Pure.

It knows no parser: HTML is walked in ``html.py``, and DOCX comes here as HTML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from prism_memory.ingest.reading import markdown

HEADING: Final = re.compile(r"h[1-6]")
INLINE: Final = re.compile(
    r"a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|img|ins|kbd"
    r"|label|mark|nobr|output|q|rp|rt|ruby|s|samp|small|span|strike|strong|sub|sup"
    r"|time|tt|u|var|wbr|button|input"
)
"""All else is a block, also what nobody knows."""

CELLS: Final = frozenset({"td", "th"})
ADDRESS: Final = re.compile(r"(?:https?://|mailto:)[^\s()<>]{1,2000}", re.IGNORECASE)


@dataclass
class Listing:
    """A list that is open. ``number`` is None where its items have marks."""

    number: int | None
    mark: str = ""


@dataclass
class Table:
    """A table that is open."""

    rows: list[list[str]] = field(default_factory=list)


@dataclass
class Page:
    """Blocks as they come."""

    blocks: list[list[str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    lists: list[Listing] = field(default_factory=list)
    links: list[tuple[str, int]] = field(default_factory=list)
    table: Table | None = None
    quotes: int = 0
    code: bool = False
    in_list: bool = False

    def words(self, text: str) -> None:
        """Take what is said."""
        self.said.append(text if self.code else re.sub(r"[ \t\r\n\f]+", " ", text))

    def open(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        """Take the beginning of an element."""
        if INLINE.fullmatch(tag):
            self._open_inline(tag, attributes)
        elif tag == "br":
            self.said.append("\n")
        elif self.table is not None:
            self._open_in_table(self.table, tag)
        else:
            self._open_block(tag)

    def close(self, tag: str) -> None:
        """Take the end of an element."""
        if tag == "a":
            self._close_link()
        elif tag == "code" and not self.code:
            self.said.append("`")
        elif INLINE.fullmatch(tag) or tag == "br":
            return
        elif self.table is not None:
            self._close_in_table(self.table, tag)
        else:
            self._close_block(tag)

    def end(self) -> str:
        """Return the page."""
        self._flush()
        return "\n\n".join("\n".join(lines) for lines in self.blocks)

    def _open_inline(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        if tag == "a":
            self.links.append((attributes.get("href") or "", len(self.said)))
        elif tag == "code" and not self.code:
            self.said.append("`")
        elif tag == "img":
            self.words(attributes.get("alt") or "")

    def _close_link(self) -> None:
        address, start = self.links.pop() if self.links else ("", 0)
        words = "".join(self.said[start:]).strip()
        if words and words != address and ADDRESS.fullmatch(address):
            self.said[start:] = [f"[{words}]({address})"]

    def _open_block(self, tag: str) -> None:
        self._flush()
        if tag in ("ul", "ol"):
            self.lists.append(Listing(0 if tag == "ol" else None))
        elif tag == "li" and self.lists:
            _next_item(self.lists[-1])
        elif tag == "blockquote":
            self.quotes += 1
        elif tag == "table":
            self.table = Table()
        elif tag == "pre":
            self.code = True

    def _close_block(self, tag: str) -> None:
        if HEADING.fullmatch(tag):
            self._add(markdown.heading(int(tag[1]), self._taken()))
        elif tag == "pre":
            self._add(markdown.fenced(self._taken()))
            self.code = False
        else:
            self._flush()
        if tag in ("ul", "ol") and self.lists:
            self.lists.pop()
        elif tag == "blockquote":
            self.quotes = max(0, self.quotes - 1)

    def _open_in_table(self, table: Table, tag: str) -> None:
        if tag == "tr":
            table.rows.append([])
        elif tag not in CELLS:
            self.said.append(" ")  # of what is a block, in a cell

    def _close_in_table(self, table: Table, tag: str) -> None:
        if tag == "table":
            self.table = None
            self._add(markdown.table(table.rows))
        elif tag in CELLS and table.rows:
            table.rows[-1].append(self._taken())
        elif tag == "caption":
            self._add(markdown.paragraph(self._taken()))
        else:
            self.said.append(" ")

    def _taken(self) -> str:
        words = "".join(self.said)
        self.said.clear()
        self.links.clear()
        return words

    def _flush(self) -> None:
        words = self._taken()
        self._add(markdown.fenced(words) if self.code else markdown.paragraph(words))

    def _add(self, block: str) -> None:
        if not block.strip():
            return
        if self.lists:
            block = self._as_item(block)
        if self.quotes:
            mark = "> " * self.quotes
            block = "\n".join(f"{mark}{line}".rstrip() for line in block.split("\n"))
        if self.lists and self.in_list:
            self.blocks[-1].append(block)
        else:
            self.blocks.append([block])
        self.in_list = bool(self.lists)

    def _as_item(self, block: str) -> str:
        """Put the mark of the item before its first block, and room before others."""
        rest = "  " * (len(self.lists) - 1)
        mark = self.lists[-1].mark
        self.lists[-1].mark = " " * len(mark)
        return markdown.indented(block, rest + mark, rest + " " * len(mark))


def _next_item(listing: Listing) -> None:
    if listing.number is None:
        listing.mark = "- "
    else:
        listing.number += 1
        listing.mark = f"{listing.number}. "
