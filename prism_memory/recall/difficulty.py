"""Tell hard questions from simple ones by their words. Pure: no model, no Django.

English cues; a question in another language counts by its length and punctuation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from prism_memory.types import check_text

HARD: Final = 0.5
"""Score from which a question is hard, unless the caller sets another (B401)."""

WEIGHTS: Final[Mapping[str, float]] = {
    "multi_hop": 0.4,
    "temporal": 0.3,
    "comparison": 0.3,
    "multi_clause": 0.2,
    "long": 0.15,
}
"""What each signal adds (B400)."""

LONG_WORDS: Final = 12
CLAUSES: Final = 2
POSSESSIVES: Final = 2


def _words(*words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(words)})\b")


RELATION: Final = _words(
    "who",
    "whom",
    "whose",
    "which",
    r"the \w+ of",
    "the (?:person|man|woman|place|city|country|company|book|film|movie|song|team)",
)
"""A record that leads to another: "the sister of", "the person she met"."""

TEMPORAL: Final = _words(
    *("before", "after", "when", "while", "during", "since", "until", "till"),
    *("first", "last", "latest", "recent", "recently", "earlier", "later", "ago"),
    *("previous", "previously", "formerly", "originally", "used to", "how long"),
    *("yesterday", "nowadays", "currently", "anymore", "by the time"),
)

COMPARISON: Final = _words(
    *("most", "(?<!at )least", "more", "less", "fewer", "fewest", "than", "between"),
    *("versus", "vs", "compare", "compared", "comparison", "difference"),
    *("differences", "best", "better", "worst", "worse", "oldest", "older"),
    *("youngest", "younger", "newest", "newer", "biggest", "bigger", "largest"),
    *("larger", "smallest", "smaller", "longest", "longer", "shortest", "shorter"),
    *("highest", "higher", "lowest", "lower", "fastest", "faster", "slowest"),
    *("closest", "farthest", "furthest"),
)

CLAUSE: Final = re.compile(
    r"\b(?:and|or|but|then)\b|[,\N{FULLWIDTH COMMA}\N{IDEOGRAPHIC COMMA}](?!\d)"
)
"""What joins clauses; a comma within a number joins none."""

QUESTION: Final = re.compile(r"[?\N{FULLWIDTH QUESTION MARK}]+")

POSSESSIVE: Final = re.compile(
    r"\b(?!(?:who|what|where|when|why|how|it|that|this|there|here|he|she|let)')"
    r"\w+(?:'s\b|s'(?!\w))"
)
"""A possessive; "what's" and the like are none."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How hard a question looks.

    Args:
        score: 0..1.
        signals: Names of those found, keys of ``WEIGHTS`` in their order.
    """

    score: float
    signals: tuple[str, ...] = ()

    @property
    def hard(self) -> bool:
        """Whether the score reaches ``HARD``."""
        return self.score >= HARD


def difficulty(question: str) -> Difficulty:
    """Return how hard ``question`` looks, from its words alone; calls nothing (B399).

    Raises:
        Invalid: It is no text.
    """
    # Blanks and apostrophes come in many kinds, the cues in one.
    text = " ".join(check_text(question, "question").casefold().split())
    signals = tuple(_signals(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))
    score = math.fsum(WEIGHTS[signal] for signal in signals)
    return Difficulty(min(1.0, score), signals)


def _signals(text: str) -> Iterator[str]:
    if RELATION.search(text) or _count(POSSESSIVE, text) >= POSSESSIVES:
        yield "multi_hop"
    if TEMPORAL.search(text):
        yield "temporal"
    if COMPARISON.search(text):
        yield "comparison"
    if _count(CLAUSE, text) >= CLAUSES or _count(QUESTION, text) > 1:
        yield "multi_clause"
    if sum(any(map(str.isalnum, word)) for word in text.split()) >= LONG_WORDS:
        yield "long"


def _count(pattern: re.Pattern[str], text: str) -> int:
    return sum(1 for _ in pattern.finditer(text))
