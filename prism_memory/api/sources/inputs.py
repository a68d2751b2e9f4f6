"""Queries and bodies of ``/sources`` and ``/source``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from prism_memory.api.fields import (
    Choice,
    Flag,
    Object,
    StrictInput,
    Text,
    Whole,
    WholeInQuery,
)
from prism_memory.db.languages import LANGUAGES
from prism_memory.errors import Invalid
from prism_memory.ingest.chunking import (
    Chunker,
    MarkdownChunker,
    MarkdownWindowChunker,
    TextChunker,
)

CHUNKERS: Final[Mapping[str, Callable[..., Chunker]]] = {
    "markdown": MarkdownChunker,
    "markdown-window": MarkdownWindowChunker,
    "text": TextChunker,
}


class ListSourcesInput(StrictInput):
    """The query of a list."""

    cursor = Text(required=False, help_text="The next_cursor of the page before.")
    limit = WholeInQuery(
        required=False, help_text="Rows of the page: 50 when not given, 200 at most."
    )


class KeyInput(StrictInput):
    """Which source."""

    key = Text(help_text="Of the source; any text, so it stands in the query.")


class ChunksInput(ListSourcesInput):
    """Which source, and which page of it."""

    key = Text(help_text="Of the source.")


class ChunkerInput(StrictInput):
    """How to cut the document."""

    name = Choice("ChunkerName", CHUNKERS)
    size = Whole(required=False, help_text="Characters of a chunk at most.")
    overlap = Whole(
        required=False, help_text="Characters shared by neighbours; not of markdown."
    )


class IngestInput(StrictInput):
    """A document. The key stands in the query, trust and writer in the credentials."""

    text = Text(help_text="Plain text or Markdown: 8,388,608 characters at most.")
    uri = Text(required=False, allow_blank=True, help_text="Where people find it.")
    chunker = ChunkerInput(required=False, allow_null=True)
    metadata = Object(required=False, allow_null=True)
    language = Choice("MemoryLanguage", LANGUAGES, required=False)
    generation = Whole(
        required=False, allow_null=True, min_value=0, help_text="It belongs to, if any."
    )
    wait = Flag(required=False, help_text="Embed before answering.")
    reason = Text(
        required=False, allow_blank=True, help_text="For the audit; no content."
    )


def document_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return what ``memory.sources.ingest`` is given, beside the key.

    Raises:
        Invalid: The chunker takes no overlap.
        LimitExceeded: Its size or overlap is out of its bounds.
    """
    wanted = given.pop("chunker", None)
    return {**given, "chunker": _chunker(dict(wanted)) if wanted else None}


def _chunker(options: dict[str, Any]) -> Chunker:
    make = CHUNKERS[options.pop("name")]
    if make is MarkdownChunker and "overlap" in options:
        message = "The chunker markdown has no overlap: its chunks are whole lines."
        raise Invalid(message, field="chunker.overlap")
    return make(**options)
