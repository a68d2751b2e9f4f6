"""What the verbs that remove, and those that keep from removal, tell."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from prism_memory.types.scopes import Scope
from prism_memory.types.vocabulary import HoldLevel, HoldWhere, TombstoneReason


@dataclass(frozen=True)
class Forgotten:
    """What a forgetting did.

    Args:
        deleted: Records whose bodies are gone, dependents included.
        kept: Ids of those whose bodies a hold keeps. What was asked for is as it was;
            what derives from something that went is hidden.
        blocked: How many refs may no longer be used.
        missing: Ids that are not in this scope, or were forgotten before.
        rows: Rows deleted, by table.
        lifted: On how many refs a hold of an earlier forgetting was lifted.
    """

    deleted: int = 0
    kept: tuple[uuid.UUID, ...] = ()
    blocked: int = 0
    missing: tuple[uuid.UUID, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    lifted: int = 0


@dataclass(frozen=True)
class Held:
    """A hold that stands.

    Args:
        new: It was placed by this call; else it stood before.
        scope: That it is on, or that holds what it is on; None where that is gone.
        where: Seen from the scope that lists it: ``here`` is on it or on what is in it,
            ``above`` on a scope it lies in, ``below`` on what it may release there.
    """

    id: uuid.UUID
    level: HoldLevel
    target_ref: str
    matter: str
    placed_at: dt.datetime
    new: bool = True
    scope: Scope | None = None
    where: HoldWhere = HoldWhere.HERE


@dataclass(frozen=True)
class HoldPage:
    """A page of the holds that stand, the oldest first."""

    items: tuple[Held, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class RefPage:
    """A page of refs that may not be used, in their order."""

    refs: tuple[str, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class Stone:
    """Why a ref may not be used. One for each root and reason.

    Args:
        root_ref: Because of what; the ref itself where it is the reason.
    """

    id: uuid.UUID
    target_ref: str
    root_ref: str
    reason: TombstoneReason
    hold: bool
    actor: str
    at: dt.datetime


@dataclass(frozen=True)
class StonePage:
    """A page of tombstones in force, the oldest first."""

    items: tuple[Stone, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class Propagated:
    """What a deletion did here and in the layers beside.

    Args:
        forgotten: What it did to the records.
        reason: Why, as each layer was told.
        layers: What each registered handler deleted, by its kind.
    """

    forgotten: Forgotten
    reason: TombstoneReason
    layers: Mapping[str, int] = field(default_factory=dict)
