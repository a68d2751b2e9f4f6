"""READ: from a question to the best records in sight."""

from prism_memory.recall.candidates import VectorLeg
from prism_memory.recall.engine import Question, recall
from prism_memory.recall.fusion import RECALL_K, RRF_K, reciprocal_rank
from prism_memory.recall.listing import get, list_page

__all__ = [
    "RECALL_K",
    "RRF_K",
    "Question",
    "VectorLeg",
    "get",
    "list_page",
    "recall",
    "reciprocal_rank",
]
