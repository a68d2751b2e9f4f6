"""From a claim and what stands near it to what becomes of it. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prism_memory.facts.conflict.exact import folded
from prism_memory.facts.conflict.markers import find_marker
from prism_memory.facts.conflict.values import RANK, Decision, Existing, New, Rules
from prism_memory.types import ConflictStage, ConflictZone, Verdict


def decide(new: New, existing: Sequence[Existing], rules: Rules) -> Decision:
    """Return what becomes of a claim that meets others (B333 to B342).

    Args:
        existing: In any order; those that came by words alone have no cosine, and are
            asked only whether they are the same words.
    """
    others = [old for old in existing if old.id != new.id]
    near = sorted(
        (old for old in others if old.cosine is not None),
        key=lambda old: (-(old.cosine or 0.0), old.id),
    )
    meeting = Meeting(new, near, rules)
    return (
        meeting.exact(others)
        or meeting.beyond()
        or meeting.hot()
        or meeting.marked()
        or meeting.triples()
        or meeting.near_duplicate()
        or meeting.deferred()
    )


@dataclass(frozen=True)
class Meeting:
    """A claim and its neighbours, the nearest first. Each stage decides or does not."""

    new: New
    near: Sequence[Existing]
    rules: Rules

    @property
    def _zone(self) -> ConflictZone:
        cosine = self.near[0].cosine
        return self.rules.thresholds.zone(-1.0 if cosine is None else cosine)

    def exact(self, others: Sequence[Existing]) -> Decision | None:
        """Decide about the same words; of several, the one that stands best counts."""
        words = folded(self.new.text)
        same = [
            old
            for old in others
            # One that is quarantined waits for a person, and speaks for nobody open.
            if (old.is_open or not self.new.is_open)
            and not old.is_of_other_time
            and folded(old.text) == words
        ]
        best = max(same, key=_standing, default=None)
        if best is None:
            return None
        found = self._one(best, ConflictStage.EXACT, "the same words")
        compared = tuple(dict.fromkeys([best.id, *found.others]))
        return replace(found, zone=ConflictZone.EXACT, similarity=1.0, others=compared)

    def beyond(self) -> Decision | None:
        """Admit what nothing is near to, and what says nothing of now."""
        if not self.near:
            return Decision(
                Verdict.ADMIT, ConflictStage.ZONES, reason="nothing to compare with"
            )
        if self._zone is ConflictZone.COLD:
            return self._decided(Verdict.ADMIT, ConflictStage.ZONES, None, "not near")
        if self.new.is_over:
            reason = "it held in the past only"
            return self._decided(Verdict.ADMIT, ConflictStage.ZONES, None, reason)
        return None

    def hot(self) -> Decision | None:
        """Decide about what is nearly the same text, whatever its words (B336)."""
        return self._duplicate(ConflictZone.HOT)

    def near_duplicate(self) -> Decision | None:
        """Decide about what is near, once markers and triples had nothing to say."""
        return self._duplicate(ConflictZone.NEAR_DUP)

    def _duplicate(self, zone: ConflictZone) -> Decision | None:
        top = self.near[0]
        if self._zone is not zone or not self.rules.may_be_one(self.new, top):
            return None
        return self._one(top, ConflictStage.ZONES, f"{zone.value} by cosine")

    def marked(self) -> Decision | None:
        """Replace the nearest where the words tell of a change (B337)."""
        marker = find_marker(self.new.text, self.rules.packs)
        if not marker:
            return None
        return self._replaced(self.near[0], ConflictStage.MARKERS, f"marker {marker}")

    def triples(self) -> Decision | None:
        """Decide by subject and predicate, over what is not cold (B338, B339)."""
        mine = self.rules.triple(self.new)
        if mine is None:
            return None
        cold = self.rules.thresholds.cold
        for old in (old for old in self.near if (old.cosine or 0.0) > cold):
            theirs = self.rules.triple(old)
            if theirs is None or not theirs.is_about_the_same(mine):
                continue
            stage = ConflictStage.SUBJECT_PREDICATE
            if theirs.object != mine.object:
                reason = "same subject and predicate, another object"
                return self._replaced(old, stage, reason)
            if self.rules.may_be_one(self.new, old):
                return self._one(old, stage, "same subject, predicate and object")
        return None

    def deferred(self) -> Decision:
        """Leave it to a judge or a person (B340)."""
        zone = self._zone
        reason = (
            "near, and nothing tells"
            if zone is ConflictZone.CHECK
            else "numbers or dates differ"
        )
        return self._decided(Verdict.PENDING, ConflictStage.DEFER, None, reason)

    def _one(self, old: Existing, stage: ConflictStage, reason: str) -> Decision:
        """Drop the new one, unless it is better vouched for than what stands.

        Else what a tool said first could keep what the user says out of sight.
        """
        if _stands(old, self.new):
            return self._decided(Verdict.DEDUP, stage, old.id, reason)
        return self._replaced(old, stage, f"{reason}, better vouched for")

    def _replaced(self, old: Existing, stage: ConflictStage, reason: str) -> Decision:
        """Replace one, unless the new one would leave it no time at all."""
        if old.starts_later:
            reason = f"{reason}, but it began no later"
            return self._decided(Verdict.PENDING, stage, None, reason)
        return self._decided(Verdict.SUPERSEDE, stage, old.id, reason)

    def _decided(
        self,
        verdict: Verdict,
        stage: ConflictStage,
        target: uuid.UUID | None,
        reason: str,
    ) -> Decision:
        return Decision(
            verdict=verdict,
            stage=stage,
            zone=self._zone if self.near else ConflictZone.NONE,
            target=target,
            similarity=self.near[0].cosine if self.near else None,
            others=tuple(old.id for old in self.near),
            reason=reason,
        )


UNKNOWN = -2.0
"""Below every cosine: what has no vector comes after what has one."""


def _standing(old: Existing) -> tuple[bool, int, float, uuid.UUID]:
    cosine = UNKNOWN if old.cosine is None else old.cosine
    return (old.is_open, RANK[old.acceptance], cosine, old.id)


def _stands(old: Existing, new: New) -> bool:
    """Tell whether what stands is as good as the new: as open, and as accepted."""
    if not new.is_open:
        return True
    return old.is_open and RANK[old.acceptance] >= RANK[new.acceptance]
