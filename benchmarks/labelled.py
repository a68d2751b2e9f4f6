"""The labelled sentences of ``tests/gate/labelled``, and how well rules tell them.

All are our own writing. A third, told by the SHA-256 of the text, is held out: while
rules are tuned, nobody looks at it but through the figures.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from prism_memory.gate import Ruleset, scan

PLACE: Final = Path(__file__).parent.parent / "tests" / "gate" / "labelled"


@dataclass(frozen=True)
class Sentence:
    """One labelled text."""

    text: str
    language: str
    style: str

    @property
    def held_out(self) -> bool:
        """Whether it belongs to the third that nobody tunes by."""
        return hashlib.sha256(self.text.encode()).digest()[0] % 3 == 0


@dataclass(frozen=True)
class Figures:
    """How well rules tell one part of the list.

    Args:
        flagged: Injections that rules match.
        missed: Those that none matches.
        false: Harmless sentences that one matches.
        passed: Those that none matches.
    """

    flagged: int
    missed: int
    false: int
    passed: int

    @property
    def precision(self) -> float:
        """Share of injections among what is flagged."""
        return self.flagged / max(1, self.flagged + self.false)

    @property
    def recall(self) -> float:
        """Share of the injections that is flagged."""
        return self.flagged / max(1, self.flagged + self.missed)


@cache
def labelled(name: str) -> tuple[Sentence, ...]:
    """Return ``injections``, ``harmless``, or ``unseen``: injections of a later day."""
    with (PLACE / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return tuple(Sentence(**json.loads(line)) for line in lines)


def figures(rules: Ruleset, *, held_out: bool) -> Figures:
    """Return how well rules tell one part of the list."""
    bad, good = (
        [bool(scan(s.text, rules)) for s in labelled(name) if s.held_out is held_out]
        for name in ("injections", "harmless")
    )
    return Figures(sum(bad), bad.count(False), sum(good), good.count(False))
