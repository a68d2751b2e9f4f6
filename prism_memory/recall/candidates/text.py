"""The full-text leg: BM25 over the scopes in sight, in SQL."""

from __future__ import annotations

from typing import Any, Final

from psycopg import sql

from prism_memory.access import Reader
from prism_memory.conf import settings
from prism_memory.recall.candidates.plan import Leg, Plan

BM25_K1: Final = 0.9
BM25_B: Final = 0.4
"""Source: Trotman, Puurula & Burgess, ADCS 2014: the best k1 and b over collections."""

TERM_ROWS: Final = 1_000
"""Rows of one word that are searched. A word that more rows hold is common: it weighs,
but is searched for only beside another. A bound on the time, not on what a small scope
finds: up to so many records nothing is left out."""

SMALL_ROWS: Final = 1_000
"""Rows in sight up to which all are read for their words: a common word of everybody's
then costs nothing, however large the table grows."""


def parameters(query: str) -> dict[str, Any]:
    """Return the values that the leg's statement is given."""
    return {
        "query": query,
        "languages": search_languages(),
        "k1": BM25_K1,
        "b": BM25_B,
    }


def contained(reader: Reader) -> sql.Composable:
    """Return what an index says of the rows that the reader's filter leaves."""
    narrowing = reader.narrowing()
    return sql.SQL("TRUE") if narrowing is None else narrowing[0]


def search_languages() -> list[str]:
    """Return the text search configurations a question is read in."""
    languages = settings.SEARCH_LANGUAGES or (settings.LANGUAGE, "simple")
    return list(dict.fromkeys(languages))


def parts(plan: Plan) -> tuple[str, ...]:
    """Return the parts of the statement."""
    words = "words_bounded" if plan.bounded else "words"
    held = ("either", "looked_small") if plan.small else ("looked",)
    return ("asked_words", "population", *held, words, "scored")


LEG: Final = Leg(gives="scored", parts=parts)
