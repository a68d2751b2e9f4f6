"""Documents for RAG: a store that is used alone, in the same tables as everything.

It has no search and no way to write of its own: it composes ingest, recall and access
by the doors of ``memory``, and adds what a retrieval promises: passages with their
provenance, within bounds, of scopes that are named, and nothing that went meanwhile.
"""

from prism_memory.rag.asking import LEXICAL_MODES, RRF_K_AT_MOST, SCOPES_AT_MOST
from prism_memory.rag.retrieving import PROVIDER
from prism_memory.rag.store import DocumentStore

__all__ = [
    "LEXICAL_MODES",
    "PROVIDER",
    "RRF_K_AT_MOST",
    "SCOPES_AT_MOST",
    "DocumentStore",
]
