"""Plain text and Markdown: the words as they are. Pure."""

from __future__ import annotations

from prism_memory.ingest.reading.encoding import decode
from prism_memory.ingest.reading.values import Document, check_length


def read_text(content: bytes, encoding: str | None = None) -> Document:
    """Read plain text. Nothing of it is altered.

    Raises:
        Unreadable: It is not in its encoding.
        LimitExceeded: It is too long.
    """
    text = check_length(decode(content, encoding=encoding))
    return Document(text, "text", {"format": "text"})


def read_markdown(content: bytes, encoding: str | None = None) -> Document:
    """Read Markdown. Nothing of it is altered.

    Raises:
        Unreadable: It is not in its encoding.
        LimitExceeded: It is too long.
    """
    text = check_length(decode(content, encoding=encoding))
    return Document(text, "markdown", {"format": "markdown"})
