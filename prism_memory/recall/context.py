"""What stands around a record speaks for it. Pure: no Django, no database, no clock.

The answer to a question often stands beside the words that match it: in the next turn,
or elsewhere in the same session, or in anything said by the person asked about. All
constants were measured on conversations (docs/benchmarks.md). Where no candidate has a
source and the question names no writer, scores stay as they were.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from prism_memory.recall.words import is_named

AFTER: Final[Mapping[int, float]] = {1: 0.4}
"""Share of its score that a record gives to the one after it."""

BEFORE: Final[Mapping[int, float]] = {1: 0.4, 2: 0.15}
"""The same for the one before it, and the last but one."""

GIVERS: Final = (
    *((-distance, share) for distance, share in AFTER.items()),
    *((distance, share) for distance, share in BEFORE.items()),
)
"""Where those stand, seen from a record, that give to it, and how much."""

ASKING_GIVES: Final = 2.0
"""A question gives the record after it so many times as much: the answer follows."""

ASKING_COUNTS: Final = 0.8
"""And counts so much itself: it holds the words of an answer, but none."""

SOURCE_SHARE: Final = 0.65
SOURCE_BEST: Final = 2
"""A source gives each of its records this share of the mean of its best two."""

WRITER_SHARE: Final = 0.4
"""What being written by somebody the question names adds, of the best score."""

AROUND: Final = math.fsum(
    (
        *(1, SOURCE_SHARE, AFTER[1] * (ASKING_GIVES - 1)),
        *AFTER.values(),
        *BEFORE.values(),
    )
)
"""The most that a score of 1 can become by what stands around it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a candidate stands.

    Args:
        source: Its stream, or None.
        ordinal: Its place there, or None.
        asks: It ends with a question.
    """

    record_id: str
    source: str | None
    ordinal: int | None
    writer: str
    asks: bool = False


def with_context(
    scores: Mapping[str, float], places: Sequence[Place], question: str
) -> dict[str, float]:
    """Return the scores with the evidence of what stands around, 0..1.

    All are divided by the most that was possible, so they compare within one answer.
    The order of ``places`` does not matter.

    Args:
        scores: Of each candidate, 0..1.
        places: One for each candidate.
    """
    told = {place.record_id: scores[place.record_id] for place in places}
    placed = [place for place in places if place.source is not None]
    for place in placed:
        if place.asks:
            told[place.record_id] *= ASKING_COUNTS
    neighbours = _neighbours(scores, placed)
    sources = _sources(scores, placed)
    for place in placed:
        told[place.record_id] += neighbours[place.record_id]
        told[place.record_id] += SOURCE_SHARE * sources[str(place.source)]
    most = max(told.values(), default=0.0)
    named = named_in({place.writer for place in places}, question)
    for place in places:
        if place.writer in named:
            told[place.record_id] += WRITER_SHARE * most
    scale = (AROUND if sources else 1) * (1 + WRITER_SHARE if named else 1)
    return {record_id: score / scale for record_id, score in told.items()}


def _neighbours(
    scores: Mapping[str, float], places: Sequence[Place]
) -> dict[str, float]:
    there: dict[tuple[str, int], tuple[float, bool]] = {}
    for place in places:
        if place.source is not None and place.ordinal is not None:
            key = (place.source, place.ordinal)
            found = (scores[place.record_id], place.asks)
            there[key] = max(there.get(key, found), found)
    return {place.record_id: _given(place, there) for place in places}


def _given(place: Place, there: Mapping[tuple[str, int], tuple[float, bool]]) -> float:
    if place.source is None or place.ordinal is None:
        return 0.0
    given = 0.0
    for offset, share in GIVERS:
        score, asks = there.get((place.source, place.ordinal + offset), (0.0, False))
        answered = asks and offset == -1
        given += share * score * (ASKING_GIVES if answered else 1)
    return given


def _sources(scores: Mapping[str, float], places: Sequence[Place]) -> dict[str, float]:
    found: dict[str, list[float]] = defaultdict(list)
    for place in places:
        if place.source is not None:
            found[place.source].append(scores[place.record_id])
    return {
        source: sum(sorted(listed, reverse=True)[:SOURCE_BEST]) / SOURCE_BEST
        for source, listed in found.items()
    }


def named_in(writers: Collection[str], question: str) -> set[str]:
    """Return the writers that a question names; see ``words.is_named``."""
    return {writer for writer in writers if is_named(writer, question)}
