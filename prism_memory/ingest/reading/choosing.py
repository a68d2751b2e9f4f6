"""Which reader a file gets: by its name, or by what the caller says. Pure."""

from __future__ import annotations

from pathlib import PurePath
from types import MappingProxyType
from typing import Final

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.ingest.reading.docx import read_docx
from prism_memory.ingest.reading.html import read_html
from prism_memory.ingest.reading.pdf import read_pdf
from prism_memory.ingest.reading.plain import read_markdown, read_text
from prism_memory.ingest.reading.values import (
    FILE_BYTES,
    Document,
    Reader,
    Unreadable,
)

READERS: Final[MappingProxyType[str, Reader]] = MappingProxyType(
    {
        "text": read_text,
        "markdown": read_markdown,
        "html": read_html,
        "pdf": read_pdf,
        "docx": read_docx,
    }
)
SUFFIXES: Final = MappingProxyType(
    {
        ".txt": "text",
        ".text": "text",
        ".md": "markdown",
        ".markdown": "markdown",
        ".html": "html",
        ".htm": "html",
        ".xhtml": "html",
        ".pdf": "pdf",
        ".docx": "docx",
    }
)


def format_of(name: str) -> str | None:
    """Return the format of a file of this name; None where nobody reads it."""
    return SUFFIXES.get(PurePath(name).suffix.lower())


def read(content: bytes, format_: str, *, encoding: str | None = None) -> Document:
    """Return the words of a file.

    Args:
        content: At most 67,108,864 bytes.
        format_: One of ``READERS``.
        encoding: Of text, Markdown and HTML, where the file does not say it.

    Raises:
        Invalid: There is no such format or encoding.
        Unreadable: It is broken, has a password, or holds no words.
        LimitExceeded: It is too large.
        Misconfigured: The extra ``files`` is not installed.
    """
    reader = READERS.get(format_)
    if reader is None:
        message = f"format must be one of {', '.join(READERS)}."
        raise Invalid(message, field="format")
    if len(content) > FILE_BYTES:
        message = f"it is over {FILE_BYTES:,} bytes."
        raise LimitExceeded(message, field="file")
    document = reader(content, encoding)
    if not document.text.strip():
        message = "it holds no words."
        raise Unreadable(message, field="file")
    return document
