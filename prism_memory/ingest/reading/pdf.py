"""PDF: the words of each page, under a heading that names the page. Pure.

Scripts and attachments are not looked at, nothing is fetched. A picture of words is no
words: a scan is refused, since there is nothing to remember of it.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Any, Final

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.reading import markdown
from prism_memory.ingest.reading.extras import library
from prism_memory.ingest.reading.values import (
    TEXT_CHARACTERS,
    Document,
    Unreadable,
    titled,
)

PAGES: Final = 5_000

BROKEN: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What pypdf raises on a broken file beside its own errors: it promises no less."""


def read_pdf(content: bytes, encoding: str | None = None) -> Document:  # noqa: ARG001
    """Read the pages of a PDF; a page without words is left out.

    Each page is a section: ``## Page 12``. A citation then names the page.

    Raises:
        Unreadable: It is broken, has a password, or holds no words.
        LimitExceeded: It is too long.
        Misconfigured: The extra ``files`` is not installed.
    """
    pypdf = library("pypdf")
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        pages = _count(reader, pypdf)
        text = "\n\n".join(_pages(reader))
        title = (reader.metadata or {}).get("/Title")
    except (pypdf.errors.PyPdfError, pypdf.errors.DependencyError, *BROKEN) as error:
        if isinstance(error, Unreadable | LimitExceeded):
            raise
        message = f"it is broken, or no PDF ({type(error).__name__})."
        raise Unreadable(message, field="file") from error
    if not text:
        message = f"none of its {pages:,} pages holds words: a scan?"
        raise Unreadable(message, field="file")
    known = titled(str(title) if title else None)
    return Document(text, "markdown", {"format": "pdf", "pages": pages, **known})


def _count(reader: Any, pypdf: Any) -> int:  # noqa: ANN401 - optional, so untyped
    # Many have an owner's password alone, and open for everybody with an empty one.
    if reader.is_encrypted and not _opens(reader, pypdf):
        message = "it has a password."
        raise Unreadable(message, field="file")
    pages = len(reader.pages)
    if pages > PAGES:
        message = f"it has over {PAGES:,} pages."
        raise LimitExceeded(message, field="file")
    return pages


def _opens(reader: Any, pypdf: Any) -> bool:  # noqa: ANN401 - optional, so untyped
    try:
        return bool(reader.decrypt(""))
    except pypdf.errors.DependencyError:
        message = "it is encrypted with AES; to read it, install pypdf[crypto]."
        raise Unreadable(message, field="file") from None


def _pages(reader: Any) -> Iterator[str]:  # noqa: ANN401 - optional, so untyped
    left = TEXT_CHARACTERS
    for number, page in enumerate(reader.pages, 1):
        words = page.extract_text().replace("\0", "")
        if not words.strip():
            continue
        section = f"## Page {number}\n\n{markdown.verbatim(words)}"
        left -= len(section) + 2
        if left < 0:
            message = f"its text is over {TEXT_CHARACTERS:,} characters."
            raise LimitExceeded(message, field="text")
        yield section
