"""What chunkers yield, and what they may not exceed. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from prism_memory.errors import LimitExceeded

DOCUMENT_CHARACTERS: Final = 8_388_608
DOCUMENT_CHUNKS: Final = 8_192
"""Source: S0, its hard caps for a document."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document, which slices back: ``text[offset_start:offset_end]``.

    Args:
        text: Verbatim.
        ordinal: Place in the document, from 0.
        line_start: First line, from 1.
        line_end: Last line, from 1, inclusive.
        offset_start: First character, from 0.
        offset_end: Behind the last character.
        heading: Headings that it stands under, the widest first; as they are read.
    """

    text: str
    ordinal: int
    line_start: int
    line_end: int
    offset_start: int
    offset_end: int
    heading: tuple[str, ...] = ()


class Chunker(Protocol):
    """Cuts a document. Pure: the same text gives the same chunks, always."""

    @property
    def identity(self) -> str:
        """Its name and options; a document that another one cuts is cut anew."""
        ...

    def chunks(self, text: str) -> Sequence[Chunk]:
        """Return the chunks of a text, in its order; none of a blank one.

        Raises:
            LimitExceeded: The text is too long, or they are too many.
        """
        ...


def check_length(text: str) -> None:
    """Do nothing if a text is not too long for a document.

    Raises:
        LimitExceeded: It is.
    """
    if len(text) > DOCUMENT_CHARACTERS:
        message = f"A document is at most {DOCUMENT_CHARACTERS:,} characters."
        raise LimitExceeded(message, field="text")


def check_number(count: int) -> None:
    """Do nothing if a document may have so many chunks.

    Raises:
        LimitExceeded: It may not.
    """
    if count > DOCUMENT_CHUNKS:
        message = f"A document is at most {DOCUMENT_CHUNKS:,} chunks."
        raise LimitExceeded(message, field="chunker")
