"""HTML: the words that a reader of the page would see, as Markdown. Pure.

Scripts are not run, nothing is fetched, and what the page itself hides (``hidden``,
``aria-hidden``, an inline style) is left out: an agent should not be told what a
person is not shown. Style sheets are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.reading.encoding import declared_encoding, decode
from prism_memory.ingest.reading.extras import library
from prism_memory.ingest.reading.page import Page
from prism_memory.ingest.reading.values import Document, check_length, titled

DEPTH: Final = 500
"""Deepest nesting. Browsers flatten what is deeper than 512."""

SKIPPED: Final = re.compile(
    r"audio|canvas|embed|head|iframe|noscript|object|script|select|style|svg"
    r"|template|textarea|video"
)
LAYOUT: Final = "h1, h2, h3, h4, h5, h6, pre, blockquote"
"""A table that holds one of these, or another table, only places it."""

UNSEEN: Final = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![\d.])"
    r"|opacity\s*:\s*0(?![\d.]))",
    re.IGNORECASE,
)
TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# These need no end: each ends the one before it, or holds nothing.
ENDLESS: Final = re.compile(
    r"area|base|body|br|col|colgroup|dd|dt|embed|frame|head|hr|html|img|input|li"
    r"|link|meta|optgroup|option|p|param|rp|rt|source|tbody|td|tfoot|th|thead|tr"
    r"|track|wbr"
)


def read_html(content: bytes, encoding: str | None = None) -> Document:
    """Read a page: headings, paragraphs, lists, tables and code.

    Args:
        encoding: Wins over what the page declares.

    Raises:
        Unreadable: It is not in its encoding.
        LimitExceeded: It is too long or nested too deep.
        Misconfigured: The extra ``files`` is not installed.
    """
    known = encoding or declared_encoding(content)
    return page_of(check_length(decode(content, encoding=known)))


def page_of(html: str, **metadata: Any) -> Document:  # noqa: ANN401 - of any JSON type
    """Return the words of HTML.

    Raises:
        LimitExceeded: It is nested too deep.
        Misconfigured: The extra ``files`` is not installed.
    """
    _check_depth(html)
    parser = library("selectolax.lexbor").LexborHTMLParser(html)
    title = parser.css_first("head > title")
    page = Page()
    for event, tag, node in _events(parser.body):
        if event == "text":
            page.words(node.text_content or "")
        elif event == "open":
            page.open(tag, node.attributes)
        else:
            page.close(tag)
    known = titled(title.text() if title is not None else None)
    return Document(page.end(), "markdown", {"format": "html", **known, **metadata})


def _check_depth(html: str) -> None:
    """Refuse what would take the parser minutes: its work grows with the square."""
    depth = 0
    for match in TAG.finditer(html):
        if not ENDLESS.fullmatch(match[2].lower()):
            depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > DEPTH:
            message = f"its elements are nested deeper than {DEPTH}."
            raise LimitExceeded(message, field="file")


def _events(body: Any) -> Iterator[tuple[str, str, Any]]:  # noqa: ANN401 - a node
    """Yield what opens, what is said and what closes, in the order of the page."""
    stack = [("open", "body", body)] if body is not None else []
    while stack:
        event, tag, node = stack.pop()
        if tag == "-text":
            yield "text", tag, node
        elif event == "close":
            yield event, tag, node
        elif not tag.startswith("-") and not _is_hidden(node):
            if tag == "table" and _only_places(node):
                tag = "div"
            yield event, tag, node
            stack.append(("close", tag, node))
            stack.extend(("open", child.tag, child) for child in _backwards(node))


def _only_places(table: Any) -> bool:  # noqa: ANN401 - a parser's node
    return table.css_first(LAYOUT) is not None or len(table.css("table")) > 1


def _backwards(node: Any) -> Iterator[Any]:  # noqa: ANN401 - a parser's node
    child = node.last_child
    while child is not None:
        yield child
        child = child.prev


def _is_hidden(node: Any) -> bool:  # noqa: ANN401 - a parser's node
    if SKIPPED.fullmatch(node.tag):
        return True
    said = node.attributes
    hidden = "hidden" in said or (said.get("aria-hidden") or "").lower() == "true"
    return hidden or bool(UNSEEN.search(said.get("style") or ""))
