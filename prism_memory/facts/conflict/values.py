"""What meets, what decides, and what is decided. Pure."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from prism_memory.facts.conflict.digits import differ
from prism_memory.facts.conflict.packs import Pack
from prism_memory.facts.conflict.triples import Triple, given_triple, split
from prism_memory.facts.conflict.zones import Thresholds
from prism_memory.types import Acceptance, ConflictStage, ConflictZone, Verdict

RANK: Final = {Acceptance.PROPOSAL: 0, Acceptance.BELIEF: 1, Acceptance.ACCEPTED: 2}


@dataclass(frozen=True)
class New:
    """A claim before it is stored.

    Args:
        acceptance: What the policy makes of it.
        is_open: The gate lets it through.
        is_over: It held only in the past, so it says nothing of what holds now.
        id: Where it is stored already: it never meets itself (B342).
    """

    text: str
    subject: str = ""
    predicate: str = ""
    value: str = ""
    acceptance: Acceptance = Acceptance.ACCEPTED
    is_open: bool = True
    is_over: bool = False
    id: uuid.UUID | None = None


@dataclass(frozen=True)
class Existing:
    """A claim that stands in the same scope.

    Args:
        cosine: Raw, of both texts, -1..1; None of one that only the words found.
        is_of_other_time: The new one is said to hold at other times than this one.
        starts_later: The new one begins no later than this one, so it cannot end it.
    """

    id: uuid.UUID
    text: str
    cosine: float | None = None
    subject: str = ""
    predicate: str = ""
    value: str = ""
    acceptance: Acceptance = Acceptance.ACCEPTED
    is_open: bool = True
    is_of_other_time: bool = False
    starts_later: bool = False


@dataclass(frozen=True)
class Rules:
    """What decides: where the zones begin, and the words of each language."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    packs: tuple[Pack, ...] = ()

    @cached_property
    def quantities(self) -> frozenset[str]:
        """Words that count or date."""
        return frozenset().union(*(pack.quantities for pack in self.packs))

    def triple(self, claim: New | Existing) -> Triple | None:
        """Return who, what and what of a claim: its author's, else by its words."""
        given = given_triple(claim.subject, claim.predicate, claim.value)
        if given is not None:
            return given
        verbs = frozenset[str]().union(*(pack.verbs for pack in self.packs))
        articles = frozenset[str]().union(*(pack.articles for pack in self.packs))
        return split(claim.text, verbs=verbs, articles=articles)

    def may_be_one(self, new: New, old: Existing) -> bool:
        """Tell whether one may be dropped for the other: no number, no date differs."""
        if old.is_of_other_time:
            return False
        return not differ(new.text, old.text, self.quantities)


@dataclass(frozen=True)
class Decision:
    """What becomes of a claim.

    Args:
        target: The one that stands for it (dedup) or that it replaces (supersede).
        similarity: Raw cosine of the nearest, -1..1; 1 for the same words; None where
            there was none.
        others: What it was compared with, the nearest first.
        reason: Why, without a word of the claims.
    """

    verdict: Verdict
    stage: ConflictStage
    zone: ConflictZone = ConflictZone.NONE
    target: uuid.UUID | None = None
    similarity: float | None = None
    others: tuple[uuid.UUID, ...] = ()
    reason: str = ""
