"""Providers: what turns text into vectors, scores and words, one file each.

No database here and no setting but the providers' own. Importing this package loads
no model and no optional package.
"""

from __future__ import annotations

from prism_memory.backends.base import (
    MAX_BATCH,
    MAX_DIMENSIONS,
    Embedder,
    assert_finite_vector,
    count_as_outage,
    embed,
)
from prism_memory.backends.graders import Grader, grade_passages
from prism_memory.backends.judges import ConflictJudge, judge_conflict
from prism_memory.backends.registry import (
    are_vectors_used,
    get_embedder,
    get_grader,
    get_judge,
    get_reranker,
    get_transformer,
    get_vector_index,
)
from prism_memory.backends.reranking import Reranker, rerank_scores
from prism_memory.backends.transformers import CheckedTransformer, QueryTransformer
from prism_memory.backends.vector_index import Place, Stored, VectorIndex, nearest

__all__ = [
    "MAX_BATCH",
    "MAX_DIMENSIONS",
    "CheckedTransformer",
    "ConflictJudge",
    "Embedder",
    "Grader",
    "Place",
    "QueryTransformer",
    "Reranker",
    "Stored",
    "VectorIndex",
    "are_vectors_used",
    "assert_finite_vector",
    "count_as_outage",
    "embed",
    "get_embedder",
    "get_grader",
    "get_judge",
    "get_reranker",
    "get_transformer",
    "get_vector_index",
    "grade_passages",
    "judge_conflict",
    "nearest",
    "rerank_scores",
]
