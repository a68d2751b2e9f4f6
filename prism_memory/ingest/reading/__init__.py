"""Files to documents, one file per format: bytes in, words out. It knows no Django.

Plain text and Markdown need no package; HTML, PDF and DOCX need the extra ``files``.
"""

from prism_memory.ingest.reading.bounded import BoundedReader, bounded_reader
from prism_memory.ingest.reading.choosing import READERS, SUFFIXES, format_of, read
from prism_memory.ingest.reading.values import (
    FILE_BYTES,
    TEXT_CHARACTERS,
    Document,
    Unreadable,
)

__all__ = [
    "FILE_BYTES",
    "READERS",
    "SUFFIXES",
    "TEXT_CHARACTERS",
    "BoundedReader",
    "Document",
    "Unreadable",
    "bounded_reader",
    "format_of",
    "read",
]
