"""The tables, one file per concept."""

from prism_memory.models.audit import AuditEvent, AuditSeal, ManifestBlock
from prism_memory.models.choices import (
    CopyState,
    GateState,
    IndexMode,
    IngestionState,
    RunState,
    SourceState,
    SpaceState,
)
from prism_memory.models.consent import ConsentGrant
from prism_memory.models.embedding import MAX_DIMENSIONS, Embedding, EmbeddingSpace
from prism_memory.models.entity import Entity, EntityMerge, Mention
from prism_memory.models.erasure import ErasureReceipt
from prism_memory.models.fact import Evidence, Fact, FactVersion
from prism_memory.models.hold import LegalHold
from prism_memory.models.key import AccessKey
from prism_memory.models.lineage import LineageEdge, Tombstone
from prism_memory.models.reading import Reading
from prism_memory.models.record import Record
from prism_memory.models.retention import RetentionPolicy
from prism_memory.models.review import ConflictDecision, Review
from prism_memory.models.run import Run
from prism_memory.models.scope import Scope, Tenant
from prism_memory.models.share import ShareGrant, ShareGrantItem
from prism_memory.models.source import Source
from prism_memory.models.source_access import SourceAccess
from prism_memory.models.trace import RecallTrace, ReinforcedQuery, Reinforcement
from prism_memory.models.vector_copy import VectorCopy

__all__ = [
    "MAX_DIMENSIONS",
    "AccessKey",
    "AuditEvent",
    "AuditSeal",
    "ConflictDecision",
    "ConsentGrant",
    "CopyState",
    "Embedding",
    "EmbeddingSpace",
    "Entity",
    "EntityMerge",
    "ErasureReceipt",
    "Evidence",
    "Fact",
    "FactVersion",
    "GateState",
    "IndexMode",
    "IngestionState",
    "LegalHold",
    "LineageEdge",
    "ManifestBlock",
    "Mention",
    "Reading",
    "RecallTrace",
    "Record",
    "ReinforcedQuery",
    "Reinforcement",
    "RetentionPolicy",
    "Review",
    "Run",
    "RunState",
    "Scope",
    "ShareGrant",
    "ShareGrantItem",
    "Source",
    "SourceAccess",
    "SourceState",
    "SpaceState",
    "Tenant",
    "Tombstone",
    "VectorCopy",
]
