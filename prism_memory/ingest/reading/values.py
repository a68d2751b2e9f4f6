"""What reading a file yields, what it may cost, and how it is refused. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from prism_memory.errors import Invalid, LimitExceeded

FILE_BYTES: Final = 67_108_864
"""Largest file that is opened: scans and pictures make documents large, not words."""

TEXT_CHARACTERS: Final = 8_388_608
"""Longest text of one document, as ``memory.sources.ingest`` takes it."""

TITLE_CHARACTERS: Final = 500
"""What is kept of a title: it is indexed with every chunk."""

Form = Literal["text", "markdown"]
"""How the text is to be chunked."""


class Unreadable(Invalid):
    """The file cannot be read as a document."""

    code = "unreadable"


@dataclass(frozen=True)
class Document:
    """The words of one file.

    Args:
        text: Plain text or Markdown, not blank.
        form: Which of the two.
        metadata: ``format``; ``title`` and ``pages`` where the file tells them.
    """

    text: str
    form: Form
    metadata: Mapping[str, Any] = field(default_factory=dict)


Reader = Callable[[bytes, str | None], Document]
"""Reads the bytes of a file; the second is the encoding that the caller knows.

Raises ``Unreadable`` and ``LimitExceeded`` without a file's name.
"""


def check_length(text: str) -> str:
    """Return ``text`` if it is short enough for one document.

    Raises:
        LimitExceeded: It is over 8,388,608 characters.
    """
    if len(text) > TEXT_CHARACTERS:
        message = f"its text is over {TEXT_CHARACTERS:,} characters."
        raise LimitExceeded(message, field="text")
    return text


def titled(title: object) -> dict[str, str]:
    """Return metadata of a title, on one line; empty where there is none."""
    words = " ".join(title.split()) if isinstance(title, str) else ""
    words = "".join(c for c in words if c.isprintable())
    return {"title": words[:TITLE_CHARACTERS]} if words else {}
