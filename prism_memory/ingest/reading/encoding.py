"""From bytes to characters: by what the file says of itself, or a refusal. Pure.

Nothing is guessed. A guess that is wrong is stored, embedded and cited as what somebody
wrote; a refusal is put right with an option.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from prism_memory.errors import Invalid
from prism_memory.ingest.reading.values import Unreadable

# The longer first: UTF-32's mark begins with that of UTF-16.
MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
DECLARED: Final = re.compile(
    rb"""<(?:meta\b[^>]{0,500}?\bcharset|\?xml\b[^>]{0,200}?\bencoding)"""
    rb"""\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
PRESCAN_BYTES: Final = 1_024
"""Where HTML looks for what it says of itself.
Source: WHATWG HTML, 13.2.3.2, prescan a byte stream to determine its encoding."""

LATIN: Final = {"iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii"}
"""Names by which pages mean windows-1252. Source: WHATWG Encoding, 4.2."""


def decode(content: bytes, *, encoding: str | None = None) -> str:
    """Return the characters of a file; a byte order mark is not one of them.

    Args:
        encoding: Said by the caller; else by a byte order mark; else UTF-8.

    Raises:
        Unreadable: Other bytes than its encoding has, or NUL: then it is no text.
        Invalid: There is no such encoding.
    """
    marked = next((m for m in MARKS if content.startswith(m[0])), None)
    if marked:
        mark, name = marked
        return _decoded(content[len(mark) :], name)
    return _decoded(content, checked_encoding(encoding) or "utf-8")


def declared_encoding(content: bytes) -> str | None:
    """Return what a page says is its encoding; None where it says nothing usable."""
    found = DECLARED.search(content[:PRESCAN_BYTES])
    name = found[1].decode("ascii").lower() if found else ""
    if name in LATIN:
        return "cp1252"
    if name.startswith("utf-16"):  # it could be read: then it is no UTF-16
        return "utf-8"
    try:
        return checked_encoding(name or None)
    except Invalid:
        return None


def checked_encoding(name: str | None) -> str | None:
    """Return the name of an encoding that Python knows.

    Raises:
        Invalid: There is none of this name.
    """
    if name is None:
        return None
    try:
        b"-".decode(name)
    except (LookupError, UnicodeError, ValueError):
        message = "there is no such encoding."
        raise Invalid(message, field="encoding") from None
    return name


def _decoded(content: bytes, name: str) -> str:
    try:
        text = content.decode(name)
    except UnicodeDecodeError as error:
        message = f"not {name.upper()} at byte {error.start:,}. Say its encoding."
        raise Unreadable(message, field="encoding") from None
    if "\0" in text:
        message = f"it holds NUL at character {text.index(chr(0)):,}: not a text."
        raise Unreadable(message, field="file")
    return text
