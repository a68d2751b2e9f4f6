"""READ: from a question to the best records in sight."""

from prism_memory.recall.candidates import VectorLeg
from prism_memory.recall.context import Place, with_context
from prism_memory.recall.engine import Question, recall
from prism_memory.recall.fusion import RRF_K, convex, reciprocal_rank
from prism_memory.recall.listing import get, list_page

__all__ = [
    "RRF_K",
    "Place",
    "Question",
    "VectorLeg",
    "convex",
    "get",
    "list_page",
    "recall",
    "reciprocal_rank",
    "with_context",
]
