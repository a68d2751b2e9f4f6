"""What the legs find, in one statement: each leg has a file, ``find`` asks them."""

from prism_memory.recall.candidates.external import external_of
from prism_memory.recall.candidates.find import Found, find
from prism_memory.recall.candidates.text import BM25_B, BM25_K1, search_languages
from prism_memory.recall.candidates.vector import HNSW_EF_SEARCH, External, VectorLeg

__all__ = [
    "BM25_B",
    "BM25_K1",
    "HNSW_EF_SEARCH",
    "External",
    "Found",
    "VectorLeg",
    "external_of",
    "find",
    "search_languages",
]
