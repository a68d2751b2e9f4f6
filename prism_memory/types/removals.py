"""What the verbs that remove, and those that keep from removal, tell."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from prism_memory.types.vocabulary import HoldLevel


@dataclass(frozen=True)
class Forgotten:
    """What a forgetting did.

    Args:
        deleted: Records whose bodies are gone, dependents included.
        kept: Ids of those that a hold keeps; they are as they were.
        blocked: How many refs got a tombstone.
        missing: Ids that are not in this scope, or were forgotten before.
        rows: Rows deleted, by table.
    """

    deleted: int = 0
    kept: tuple[uuid.UUID, ...] = ()
    blocked: int = 0
    missing: tuple[uuid.UUID, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Held:
    """A hold that stands.

    Args:
        new: It was placed by this call; else it stood before.
    """

    id: uuid.UUID
    level: HoldLevel
    target_ref: str
    matter: str
    placed_at: dt.datetime
    new: bool = True
