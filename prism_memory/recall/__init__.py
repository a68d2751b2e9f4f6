"""READ: from a question to the best records in sight."""

from prism_memory.recall.asking import CHANGED, Providers
from prism_memory.recall.blending import blend, coverage
from prism_memory.recall.candidates import VectorLeg
from prism_memory.recall.context import Place, with_context
from prism_memory.recall.deep import Grading, deep
from prism_memory.recall.difficulty import Difficulty, difficulty
from prism_memory.recall.engine import recall
from prism_memory.recall.fitting import Case, fit_weights, ndcg
from prism_memory.recall.fuser import fuse, reranker, set_reranker
from prism_memory.recall.fusion import (
    RRF_K,
    convex,
    fuse_rrf,
    fuse_weighted,
    reciprocal_rank,
)
from prism_memory.recall.listing import get, list_page
from prism_memory.recall.neighbors import neighbors
from prism_memory.recall.options import Asker, Request
from prism_memory.recall.question import Question
from prism_memory.recall.sharing import list_shares
from prism_memory.recall.trace import announce

__all__ = [
    "CHANGED",
    "RRF_K",
    "Asker",
    "Case",
    "Difficulty",
    "Grading",
    "Place",
    "Providers",
    "Question",
    "Request",
    "VectorLeg",
    "announce",
    "blend",
    "convex",
    "coverage",
    "deep",
    "difficulty",
    "fit_weights",
    "fuse",
    "fuse_rrf",
    "fuse_weighted",
    "get",
    "list_page",
    "list_shares",
    "ndcg",
    "neighbors",
    "recall",
    "reciprocal_rank",
    "reranker",
    "set_reranker",
    "with_context",
]
