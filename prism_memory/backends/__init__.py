"""Providers: what turns text into vectors and scores, one file each.

No database here and no setting but the providers' own. Importing this package loads
no model and no optional package.
"""

from __future__ import annotations

from prism_memory.backends.base import (
    MAX_BATCH,
    MAX_DIMENSIONS,
    Embedder,
    assert_finite_vector,
    embed,
)
from prism_memory.backends.registry import get_embedder, get_reranker
from prism_memory.backends.reranking import Reranker, rerank_scores

__all__ = [
    "MAX_BATCH",
    "MAX_DIMENSIONS",
    "Embedder",
    "Reranker",
    "assert_finite_vector",
    "embed",
    "get_embedder",
    "get_reranker",
    "rerank_scores",
]
