"""The names that a question may hold. Pure."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from prism_memory.recall.words import words
from prism_memory.types.naming import fold

SHORTEST: Final = 3
"""Characters that a name within a question has at least. Source: S3."""


def names_in(question: str) -> list[str]:
    """Return the question, its words and pairs of these as names, folded (B397).

    Words are what stands between blanks, as ``R2-D2``, and what PostgreSQL takes for
    words, so that "Ada's" names Ada.
    """
    found = [fold(question)]
    for parts in (question.split(), words(question)):
        pairs = [" ".join(pair) for pair in pairwise(parts)]
        found += (fold(part) for part in (*pairs, *parts))
    whole, *others = found
    kept = [name for name in others if len(name) >= SHORTEST]
    return list(dict.fromkeys(filter(None, (whole, *kept))))
