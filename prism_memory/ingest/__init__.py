"""From conversations in files to entries, and from those to records.

Parsing is pure, one file per format, and exported here; ``loading`` alone knows Django.
"""

from prism_memory.ingest.entries import BadEntry, Incoming, Selection
from prism_memory.ingest.exported import Mapped, read_export
from prism_memory.ingest.jsonl import read_jsonl
from prism_memory.ingest.locomo import read_locomo

__all__ = [
    "BadEntry",
    "Incoming",
    "Mapped",
    "Selection",
    "read_export",
    "read_jsonl",
    "read_locomo",
]
