"""How long what is kept: rules, and what applying them did."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, TypeVar

from prism_memory.errors import Invalid
from prism_memory.types.checks import check_bool
from prism_memory.types.vocabulary import (
    SAID_KINDS,
    Kind,
    ScopeLevel,
    Tier,
    check_choice,
)

MOST_DAYS: Final = 365_000
"""A thousand years, so that every limit is a date."""

MOST_ENTRIES: Final = 2**63 - 1

RETAINED_KINDS: Final = (*SAID_KINDS, Kind.CHUNK, Kind.FACT)
"""What rules may name. Chunks and facts go only by rules that name them (B151)."""

E = TypeVar("E", Kind, ScopeLevel)


@dataclass(frozen=True)
class Rules:
    """Which records go: each that one of the rules says so of.

    Args:
        level: Only in scopes of this level; None: in all.
        kind: Only these; None: entries, turns and notes.
        tier: Only these; None: any; ``Tier.NONE``: those without one.
        max_age_days: What was remembered longer ago goes, from 0, which keeps nothing.
        max_entries: Of each scope, the lowest sequences beyond so many go, from 0,
            which keeps nothing.
        expired: What has passed its own ``expires_at`` goes.

    Raises:
        Invalid: A value is not acceptable, or none of the three rules is given.
    """

    level: ScopeLevel | None = None
    kind: Kind | None = None
    tier: Tier | None = None
    max_age_days: int | None = None
    max_entries: int | None = None
    expired: bool = False

    def __post_init__(self) -> None:
        self._set("level", _one_of(self.level, ScopeLevel, "level"))
        self._set("kind", _one_of(self.kind, Kind, "kind"))
        if self.tier is not None:
            self._set("tier", check_choice(self.tier, Tier, "tier"))
        _check_whole(self.max_age_days, "max_age_days", MOST_DAYS)
        _check_whole(self.max_entries, "max_entries", MOST_ENTRIES)
        check_bool(self.expired, "expired")
        if self.max_age_days is None and self.max_entries is None and not self.expired:
            message = "Give max_age_days, max_entries or expired: nothing would go."
            raise Invalid(message, field="max_age_days")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def kinds(self) -> Collection[Kind]:
        """The kinds that they are about."""
        return SAID_KINDS if self.kind is None else (self.kind,)

    @property
    def keeps_nothing(self) -> bool:
        """Whether a limit of 0 makes all go that they are about."""
        return 0 in (self.max_age_days, self.max_entries)

    def before(self, at: dt.datetime) -> dt.datetime | None:
        """Return when the oldest that stay were remembered; None without that rule."""
        if self.max_age_days is None:
            return None
        return at - dt.timedelta(days=self.max_age_days)


@dataclass(frozen=True)
class Retained:
    """What one application of rules to a scope did, or would do.

    Args:
        deleted: Records that went.
        scanned: Records that were due: those that went, and those that a hold keeps.
        kept: Those that a hold keeps.
    """

    deleted: int = 0
    scanned: int = 0
    kept: int = 0


@dataclass(frozen=True)
class ScopePreview:
    """What a policy would do in one scope.

    Args:
        due: Records that would go.
        kept: Records that would, but for a hold.
    """

    scope_id: uuid.UUID
    owner: str
    agent: str
    thread: str
    due: int
    kept: int


@dataclass(frozen=True)
class Preview:
    """What rules would do in a tenant now; other rules may say the same of a record.

    Args:
        due: Records that would go, in all scopes that were counted.
        kept: Records that would, but for a hold.
        counted: Scopes that were counted.
        scopes: Those where most would go or be kept, most first; 100 at most.
        complete: Whether the time was enough to count all.
        policy_id: Of what policy; None for rules that are none yet.
        name: The policy's.
    """

    due: int
    kept: int
    counted: int
    scopes: tuple[ScopePreview, ...]
    complete: bool
    policy_id: uuid.UUID | None = None
    name: str = ""


def _one_of(value: object, choices: type[E], name: str) -> E | None:
    return None if value is None else check_choice(value, choices, name)


def _check_whole(value: object, name: str, most: int) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        message = f"{name} must be an integer from 0 to {most:,}."
        raise Invalid(message, field=name)
