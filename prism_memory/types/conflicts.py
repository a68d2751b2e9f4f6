"""What becomes of claims that meet others, as callers and judges get and give it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from prism_memory.types.facts import FactItem
from prism_memory.types.vocabulary import ConflictStage, ConflictZone, Verdict


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a judge says of a new claim and its neighbours.

    Args:
        verdict: ``admit``: both hold; ``dedup``: a neighbour says it already;
            ``supersede``: it replaces a neighbour; ``pending``: a person has to say.
        neighbour: Which one, from 0 in the order given, for dedup and supersede.
    """

    verdict: Verdict
    neighbour: int | None = None


@dataclass(frozen=True)
class DecidedFact:
    """What ``remember_with_decision`` did, and why (B330).

    Args:
        fact: What stands now: the new one, or for a duplicate the one that was there.
        verdict: What became of the claim.
        stage: Which stage of the pipeline said so.
        zone: How near the nearest was, by raw cosine.
        similarity: Of the nearest, a raw cosine of -1..1; None where there was none.
        reason: Why, without a word of the claims; also what could not be asked.
        quarantine_reason: Why the gate holds the new one back, or ``""``.
        decision_id: Of the row that keeps this; ``settle_conflict`` takes it.
        others: Ids of the facts it was compared with, the nearest first.
        target: The one that it repeats, replaces, or is to replace.
    """

    fact: FactItem
    verdict: Verdict
    stage: ConflictStage
    zone: ConflictZone
    similarity: float | None
    reason: str
    quarantine_reason: str
    decision_id: uuid.UUID
    others: tuple[uuid.UUID, ...] = ()
    target: uuid.UUID | None = None


@dataclass(frozen=True)
class ConflictItem:
    """A conflict that waits for a person or a judge.

    Args:
        id: What ``settle_conflict`` takes.
        fact: The new claim.
        others: The facts it may repeat or replace that are in sight, the nearest first.
        similarity: Raw cosine of the nearest when it was compared.
        attempts: How often a judge was asked.
    """

    id: uuid.UUID
    fact: FactItem
    others: tuple[FactItem, ...]
    stage: ConflictStage
    zone: ConflictZone
    similarity: float | None
    reason: str
    at: dt.datetime
    attempts: int = 0


@dataclass(frozen=True)
class ConflictPage(Sequence[ConflictItem]):
    """One page of conflicts that wait, the oldest first.

    Args:
        next_cursor: Where the next page begins, or None on the last.
    """

    items: tuple[ConflictItem, ...] = ()
    next_cursor: str | None = None

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as Sequence has it
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class Settled:
    """What came of a conflict.

    Args:
        verdict: As it was settled: a duplicate that is better vouched for than what it
            repeats replaces that instead.
        linked: It is to replace a fact, and waits until it may.
        fact: The new claim's id.
        target: The fact that it repeats or replaces.
    """

    verdict: Verdict
    fact: uuid.UUID
    target: uuid.UUID | None = None
    linked: bool = False
