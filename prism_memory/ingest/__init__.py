"""From conversations in files to entries, and from those to records.

Parsing is pure, one file per format; ``loading`` alone knows the database.
"""

from prism_memory.ingest.entries import BadEntry, Incoming, Selection
from prism_memory.ingest.jsonl import read_jsonl
from prism_memory.ingest.loading import KIND, Loaded, fingerprint, load
from prism_memory.ingest.locomo import read_locomo

__all__ = [
    "KIND",
    "BadEntry",
    "Incoming",
    "Loaded",
    "Selection",
    "fingerprint",
    "load",
    "read_jsonl",
    "read_locomo",
]
