"""The tables, one file per concept."""

from prism_memory.models.audit import AuditEvent
from prism_memory.models.choices import (
    GateState,
    IndexMode,
    IngestionState,
    RunState,
    SourceState,
    SpaceState,
)
from prism_memory.models.embedding import MAX_DIMENSIONS, Embedding, EmbeddingSpace
from prism_memory.models.key import AccessKey
from prism_memory.models.lineage import LineageEdge, Tombstone
from prism_memory.models.record import Record
from prism_memory.models.run import Run
from prism_memory.models.scope import Scope, Tenant
from prism_memory.models.source import Source
from prism_memory.models.trace import RecallTrace, ReinforcedQuery, Reinforcement

__all__ = [
    "MAX_DIMENSIONS",
    "AccessKey",
    "AuditEvent",
    "Embedding",
    "EmbeddingSpace",
    "GateState",
    "IndexMode",
    "IngestionState",
    "LineageEdge",
    "RecallTrace",
    "Record",
    "ReinforcedQuery",
    "Reinforcement",
    "Run",
    "RunState",
    "Scope",
    "Source",
    "SourceState",
    "SpaceState",
    "Tenant",
    "Tombstone",
]
