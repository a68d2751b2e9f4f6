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
    get_embedder,
    get_grader,
    get_judge,
    get_reranker,
    get_transformer,
)
from prism_memory.backends.reranking import Reranker, rerank_scores
from prism_memory.backends.transformers import CheckedTransformer, QueryTransformer

__all__ = [
    "MAX_BATCH",
    "MAX_DIMENSIONS",
    "CheckedTransformer",
    "ConflictJudge",
    "Embedder",
    "Grader",
    "QueryTransformer",
    "Reranker",
    "assert_finite_vector",
    "count_as_outage",
    "embed",
    "get_embedder",
    "get_grader",
    "get_judge",
    "get_reranker",
    "get_transformer",
    "grade_passages",
    "judge_conflict",
    "rerank_scores",
]
