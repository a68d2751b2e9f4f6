"""Words that tell of a change, by language: data, and what it is made of. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Marker:
    """Words that say that something is so no more.

    Args:
        name: What a decision's reason calls it: ``moved``.
        pattern: A regular expression over a folded text: lower case, one space, ``'``
            for every apostrophe. It is searched at the bounds of words.
        confidence: 0..1: the surest of those found is named.
    """

    name: str
    pattern: str
    confidence: float

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, at the bounds of words."""
        return re.compile(rf"(?<!\w)(?:{self.pattern})(?!\w)")


@dataclass(frozen=True)
class Pack:
    """What one language says of changes.

    Args:
        language: Its name, such as ``en``.
        supersedes: Markers of something new.
        negations: Markers of something that ended.
        verbs: Words that a statement is split at into subject, predicate and object:
            of what somebody has one at a time, since another object replaces the old.
            Not ``is`` and ``has``: who is allergic may be a doctor, too.
        articles: Articles and possessives, which are dropped at the start.
        quantities: Words that count or date, beside digits: ``three``, ``monday``.
    """

    language: str
    supersedes: tuple[Marker, ...] = ()
    negations: tuple[Marker, ...] = ()
    verbs: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    quantities: frozenset[str] = frozenset()


def markers(patterns: Mapping[str, tuple[str, float]]) -> tuple[Marker, ...]:
    """Return markers of patterns and confidences, by name."""
    return tuple(Marker(name, *given) for name, given in patterns.items())


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set: packs are written as plain lists."""
    return frozenset(text.split())
