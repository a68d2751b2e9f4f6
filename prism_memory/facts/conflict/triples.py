"""Subject, predicate and object: as an author gave them, or as the words fall. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from prism_memory.facts.conflict.markers import folded

EDGES = ".,;:!?\"'()[]{}«»“”„"


@dataclass(frozen=True)
class Triple:
    """What is said of whom, folded for comparing."""

    subject: str
    predicate: str
    object: str

    def is_about_the_same(self, other: Triple) -> bool:
        """Tell whether both say something of the same kind about the same one."""
        mine, theirs = (self.subject, self.predicate), (other.subject, other.predicate)
        return mine == theirs


def given_triple(subject: str, predicate: str, value: str) -> Triple | None:
    """Return the triple of an author who gave one whole; None of a part of one."""
    parts = [" ".join(_trimmed(part)) for part in (subject, predicate, value)]
    return Triple(*parts) if all(parts) else None


def split(
    text: str, *, verbs: Collection[str], articles: Collection[str]
) -> Triple | None:
    """Return the triple of a plain statement, split at its first known verb.

    Articles and possessives that begin its subject or its object are dropped. None
    where no known verb stands between two others.
    """
    tokens = _trimmed(text)
    at = next((n for n, token in enumerate(tokens) if token in verbs), None)
    if at is None:
        return None
    subject = _without_articles(tokens[:at], articles)
    other = _without_articles(tokens[at + 1 :], articles)
    if not subject or not other:
        return None
    return Triple(" ".join(subject), tokens[at], " ".join(other))


def _trimmed(text: str) -> list[str]:
    tokens = (token.strip(EDGES) for token in folded(text).split())
    return [token for token in tokens if token]


def _without_articles(tokens: Sequence[str], articles: Collection[str]) -> list[str]:
    kept = list(tokens)
    while kept and kept[0] in articles:
        kept.pop(0)
    return kept
