"""What is kept of a recall: ids, hashes and numbers, never a text."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from prism_memory.types.answers import JSON
from prism_memory.types.scopes import Scope
from prism_memory.types.vocabulary import ReadMode

HASH_BYTES: Final = 32

STRENGTH_AT_FIRST: Final = 1.0
STRENGTH_STEP: Final = 0.1
STRENGTH_AT_MOST: Final = 2.0
"""How recalling strengthens a record. Source: behaviour B430."""


@dataclass(frozen=True)
class Trace:
    """One recall: where, what came back and why.

    Args:
        id: UUIDv7, made by the reader; what is written under it is written once.
        query_sha256: HMAC-SHA-256 of the question, 32 bytes.
        actor: Who asked, as the audit names them.
        options: Non-text options: legs, fusion, counts, weights.
        hits: For each, best first: ``id``, ``score``, ``ranks``, ``signals``.
        timings_ms: Milliseconds by step.
    """

    id: uuid.UUID
    scope: Scope
    query_sha256: bytes
    actor: str
    mode: ReadMode
    strategy: str
    degraded: str
    at: dt.datetime
    options: JSON = field(default_factory=dict)
    hits: tuple[JSON, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def record_ids(self) -> tuple[uuid.UUID, ...]:
        """Ids of the hits, best first."""
        return tuple(uuid.UUID(hit["id"]) for hit in self.hits)

    def to_json(self) -> JSON:
        """Return it as a message carries it."""
        scope = self.scope
        return {
            "id": str(self.id),
            "scope": [scope.tenant, scope.owner, scope.agent, scope.thread],
            "query_sha256": self.query_sha256.hex(),
            "actor": self.actor,
            "mode": self.mode.value,
            "strategy": self.strategy,
            "degraded": self.degraded,
            "at": self.at.isoformat(),
            "options": self.options,
            "hits": list(self.hits),
            "timings_ms": dict(self.timings_ms),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Trace:
        """Return what ``to_json`` wrote."""
        own = {
            "id": uuid.UUID(found["id"]),
            "scope": Scope(*found["scope"]),
            "query_sha256": bytes.fromhex(found["query_sha256"]),
            "mode": ReadMode(found["mode"]),
            "at": dt.datetime.fromisoformat(found["at"]),
            "hits": tuple(found["hits"]),
        }
        return cls(**{**found, **own})
