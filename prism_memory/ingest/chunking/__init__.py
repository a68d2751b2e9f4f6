"""Cut documents into chunks. Pure: no Django, no database, and no model.

Each chunk slices back to the text that it was cut from. Hosts give their own by the
protocol ``Chunker``.
"""

from prism_memory.ingest.chunking.lines import Lines
from prism_memory.ingest.chunking.markdown import MarkdownChunker
from prism_memory.ingest.chunking.values import (
    DOCUMENT_CHARACTERS,
    DOCUMENT_CHUNKS,
    Chunk,
    Chunker,
    check_length,
    check_number,
)
from prism_memory.ingest.chunking.windows import MarkdownWindowChunker, TextChunker

__all__ = [
    "DOCUMENT_CHARACTERS",
    "DOCUMENT_CHUNKS",
    "Chunk",
    "Chunker",
    "Lines",
    "MarkdownChunker",
    "MarkdownWindowChunker",
    "TextChunker",
    "check_length",
    "check_number",
]
