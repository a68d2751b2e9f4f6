"""DOCX: the words of a document, as Markdown. Pure.

mammoth turns its styles to HTML, which ``html.py`` reads on. It is given only parts
that were looked at: XML of a bounded size without a document type, and no pictures.
Macros are not run, nothing is fetched, comments and deleted words are left out.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import Any, Final
from xml.parsers import expat

from prism_memory.errors import LimitExceeded
from prism_memory.ingest.reading.extras import library
from prism_memory.ingest.reading.html import page_of
from prism_memory.ingest.reading.values import (
    Document,
    Unreadable,
    check_length,
    titled,
)

OLE: Final = bytes.fromhex("d0cf11e0a1b11ae1")
"""What a file of Word before 2007 begins with, and one with a password.
Source: MS-CFB, 2.2."""

PARTS: Final = 5_000
XML_BYTES: Final = 33_554_432
"""Most XML of one document, unpacked: its tree takes about thirty times as much."""

XML_DEPTH: Final = 200
"""Deepest nesting: mammoth recurses, and Python has an end to that."""

CORE: Final = "docProps/core.xml"
TITLE: Final = "http://purl.org/dc/elements/1.1/ title"
BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    expat.ExpatError,
    EOFError,
    NotImplementedError,  # a packing that zipfile lacks
    RuntimeError,  # of zipfile: a password; and RecursionError
    AttributeError,
    IndexError,
    KeyError,
    OSError,
    TypeError,
    ValueError,
)
"""What zipfile and mammoth raise on a broken file: they promise no less."""

STYLES: Final = "p[style-name='Title'] => h1:fresh"


def read_docx(content: bytes, encoding: str | None = None) -> Document:  # noqa: ARG001
    """Read a Word document: headings, paragraphs, lists, tables and notes.

    Raises:
        Unreadable: It is broken, has a password, or is no DOCX.
        LimitExceeded: It is too long, or unpacks to too much.
        Misconfigured: The extra ``files`` is not installed.
    """
    mammoth = library("mammoth")
    if content.startswith(OLE):
        message = "it has a password, or is of Word before 2007: no DOCX."
        raise Unreadable(message, field="file")
    try:
        parts = _parts(content)
        title = _checked(parts)
        html = _converted(mammoth, parts)
    except BROKEN as error:
        message = f"it is broken, or no DOCX ({type(error).__name__})."
        raise Unreadable(message, field="file") from error
    found = page_of(html, **titled(title), format="docx")
    check_length(found.text)
    return found


def _parts(content: bytes) -> dict[str, bytes]:
    """Return the XML of the document; its sizes are checked before it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        wanted = [i for i in file.infolist() if i.filename.endswith((".xml", ".rels"))]
        if len(wanted) > PARTS:
            message = f"it has over {PARTS:,} parts."
            raise LimitExceeded(message, field="file")
        # zipfile gives no more of a part than is declared here.
        if sum(item.file_size for item in wanted) > XML_BYTES:
            message = f"it unpacks to over {XML_BYTES:,} bytes of XML."
            raise LimitExceeded(message, field="file")
        return {item.filename: file.read(item) for item in wanted}


def _checked(parts: dict[str, bytes]) -> str:
    """Look at every part; return the document's title."""
    titles = [_Look(name).at(xml) for name, xml in parts.items()]
    return "".join(titles)


class _Look:
    """One pass over a part: no document type, no deep nesting; its title."""

    def __init__(self, name: str) -> None:
        self._is_core = name == CORE
        self._depth = 0
        self._in_title = False
        self._title: list[str] = []

    def at(self, xml: bytes) -> str:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._open
        parser.EndElementHandler = self._close
        parser.CharacterDataHandler = self._words
        parser.Parse(xml, True)  # noqa: FBT003 - expat takes it by place
        return "".join(self._title)

    def _refuse(self, *_: Any) -> None:  # noqa: ANN401 - of expat, unused
        message = "it declares a document type, which no DOCX does."
        raise Unreadable(message, field="file")

    def _open(self, name: str, _attributes: object) -> None:
        self._depth += 1
        self._in_title = self._is_core and name == TITLE
        if self._depth > XML_DEPTH:
            message = f"its elements are nested deeper than {XML_DEPTH}."
            raise LimitExceeded(message, field="file")

    def _close(self, _name: str) -> None:
        self._depth -= 1
        self._in_title = False

    def _words(self, words: str) -> None:
        if self._in_title:
            self._title.append(words)


def _converted(mammoth: Any, parts: dict[str, bytes]) -> str:  # noqa: ANN401 - untyped
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, xml in parts.items():
            file.writestr(name, xml)
    found = mammoth.convert_to_html(
        packed,
        style_map=STYLES,
        convert_image=_no_picture,
        include_embedded_style_map=False,
        external_file_access=False,
    )
    return str(found.value)


def _no_picture(_image: object) -> list[Any]:
    return []
