"""Texts and vectors that are made up, alike in every run. No Django, no database.

Words follow Zipf's law between common English stop words, some thirty to a text. The
vectors' coordinates shrink as k ** -0.45, which leaves about 50 effective dimensions of
384, as MiniLM's vectors of real turns have (participation ratio of the covariance);
``uniform`` vectors, all nearly at right angles, are the hardest case for an index.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

DIMENSIONS: Final = 384
WORDS: Final = 20_000
ZIPF_SHIFT: Final = 10
"""Source: Mandelbrot's shift; the most common content word is in a fifth of texts."""
WORDS_PER_TEXT: Final = (20, 40)
STOP_SHARE: Final = 0.45
SPREADS: Final = ("shrinking", "uniform")
SHRINKING: Final = -0.45

STOP_WORDS: Final = (
    *("the", "of", "and", "a", "to", "in", "is", "was", "it", "for", "on", "with"),
    *("as", "that", "at", "by", "this", "had", "not", "are", "but", "from", "have"),
    *("an", "they", "which", "you", "were", "her", "all", "she", "there", "would"),
    *("their", "we", "him", "been", "has", "when"),
)
SYLLABLES: Final = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


class Corpus:
    """A source of texts and vectors.

    Args:
        seed: The same seed gives the same corpus.
        spread: How vectors lie: ``shrinking`` or ``uniform``.
    """

    def __init__(self, seed: int = 1, spread: str = "shrinking") -> None:
        self._random = np.random.default_rng(seed)
        self._spread = spread
        self._words = np.array([word(number) for number in range(WORDS)])
        weights = 1 / (np.arange(WORDS) + 1 + ZIPF_SHIFT)
        self._edges = np.cumsum(weights / weights.sum())

    def texts(self, count: int) -> list[str]:
        """Return ``count`` texts of twenty to forty words."""
        lengths = self._random.integers(*WORDS_PER_TEXT, size=count, endpoint=True)
        total = int(lengths.sum())
        content = self._words[self._ranks(total)]
        stops = np.array(STOP_WORDS)[self._random.integers(len(STOP_WORDS), size=total)]
        words = np.where(self._random.random(total) < STOP_SHARE, stops, content)
        ends = np.cumsum(lengths)
        parts = zip(ends - lengths, ends, strict=True)
        return [" ".join(words[start:end]) for start, end in parts]

    def vectors(self, count: int) -> Vectors:
        """Return vectors, shape ``(count, 384)``, unit length."""
        return unit_vectors(self._random, count, self._spread)

    def question(self, text: str) -> str:
        """Return a question of five words out of ``text``, between three stop words."""
        words = [word for word in text.split() if word not in STOP_WORDS]
        chosen = self._random.choice(words, size=min(5, len(words)), replace=False)
        return f"what was the {' '.join(chosen)}"

    def choose(self, count: int, among: int) -> list[int]:
        """Return ``count`` numbers below ``among``, without repeats where it can."""
        repeat = count > among
        found: list[int] = self._random.choice(among, count, replace=repeat).tolist()
        return found

    def shuffled(self, items: Sequence[Any]) -> list[Any]:
        """Return the items in a random order."""
        return [items[i] for i in self._random.permutation(len(items))]

    def _ranks(self, count: int) -> npt.NDArray[np.intp]:
        found = np.searchsorted(self._edges, self._random.random(count))
        return np.minimum(found, WORDS - 1)


def common_words(count: int) -> str:
    """Return the ``count`` words that most texts hold."""
    return " ".join(word(number) for number in range(count))


def word(number: int) -> str:
    """Return the word of that rank: three syllables and an end no stemmer takes off."""
    parts = []
    for _ in range(3):
        number, syllable = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[syllable])
    return "".join(parts) + "k"


def unit_vectors(random: np.random.Generator, count: int, spread: str) -> Vectors:
    """Return random vectors, shape ``(count, 384)``, unit length."""
    drawn = random.standard_normal((count, DIMENSIONS), dtype=np.float32)
    if spread == "shrinking":
        drawn *= np.arange(1, DIMENSIONS + 1, dtype=np.float32) ** SHRINKING
    found: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return found


def vector_of(text: str, spread: str = "shrinking") -> Vectors:
    """Return the vector that stands for ``text``: any, but always the same."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    found: Vectors = unit_vectors(np.random.default_rng(seed), 1, spread)[0]
    return found
