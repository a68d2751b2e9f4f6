"""What a search asks beside its question: other words, and a passage made up for it.

Pure: providers are asked through what the caller gives. Nothing here fails because a
transformer does; only a question that cannot be embedded is an error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from prism_memory.errors import (
    Invalid,
    LimitExceeded,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import Vector, check_count, check_text

EmbedQueries = Callable[[list[str]], Sequence[Vector]]
"""Embeds questions, one vector a text, in order; unit length, checked."""

TRANSFORM_SECONDS: Final = 5.0
"""Longest wait for a transformer, unless the caller says so."""

PASSAGE_CHARACTERS: Final = 4_096
"""Longest hypothetical passage that is embedded: two or three sentences are asked for,
and no embedder here reads more."""

UNWORDED: Final = "the question could not be said in other words"
UNIMAGINED: Final = "no passage could be made up for the question"
UNEMBEDDED: Final = "some variants of the question could not be embedded"
UNUSABLE: Final = "some variants of the question were not usable"

Refused = (ProviderUnavailable, ProviderRejected)

T = TypeVar("T")


class Transformer(Protocol):
    """What says a question in other words; ``backends.CheckedTransformer`` is one."""

    def variants(self, query: str, n: int, *, timeout_seconds: float) -> Sequence[str]:
        """Return up to ``n`` other ways to ask ``query``."""

    def passage(self, query: str, *, timeout_seconds: float) -> str:
        """Return a passage that could answer ``query``."""


@dataclass(frozen=True, slots=True)
class Variants:
    """What to search for, the question first.

    Args:
        texts: What the text leg looks for; empty for a hypothetical passage, whose
            words nobody said, so that it has a vector leg alone.
        vectors: The vector of each, or None where it has no vector leg.
        degraded: Why there are fewer than were asked for, or empty.
    """

    texts: tuple[str, ...]
    vectors: tuple[Vector | None, ...]
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a transformer made of a question.

    Args:
        texts: The question and its variants.
        passage: Made up, or empty.
        reasons: Why there is less than was asked for.
    """

    texts: tuple[str, ...]
    passage: str = ""
    reasons: tuple[str, ...] = ()

    def embedded(self, embed: EmbedQueries | None) -> Variants:
        """Return all of it with its vectors.

        Calls the embedder once, for all; when that fails, once for each (B381).

        Args:
            embed: Embeds questions, or None where there is no vector leg.

        Raises:
            ProviderUnavailable: The question itself could not be embedded.
            ProviderRejected: Likewise.
        """
        reasons = [*self.reasons]
        made_up = (self.passage,) if self.passage else ()
        vectors = _embedded([*self.texts, *made_up], embed, reasons)
        shown = (*self.texts, "") if made_up else self.texts
        if made_up and vectors[-1] is None:  # neither words nor vector: nothing to ask
            shown, vectors = self.texts, vectors[:-1]
        degraded = "; ".join(dict.fromkeys(reasons))
        return Variants(shown, tuple(vectors), degraded)


def said_of(
    query: str,
    *,
    multi_query: int,
    hyde: bool,
    transformer: Transformer | None,
    check: Callable[[str], object] | None = None,
    timeout_seconds: float = TRANSFORM_SECONDS,
) -> Said:
    """Return the question, its variants and a hypothetical passage.

    Calls the transformer at most twice. Without one nothing but the question is asked
    (B378, B379).

    Args:
        query: The question, checked.
        multi_query: Questions in all, at least 1; 1 asks for no variant.
        hyde: Make a passage up, to search for what is near it. Only where something
            embeds it.
        transformer: Says the question in other words, or None.
        check: Raises for what is no acceptable question: such a variant is dropped.
        timeout_seconds: Longest wait for both calls of the transformer.

    Raises:
        LimitExceeded: ``multi_query`` is no integer of at least 1.
    """
    check_count(multi_query, "multi_query", minimum=1)
    reasons: list[str] = []
    deadline = time.monotonic() + timeout_seconds
    texts, made_up = [query], ""
    if transformer is not None and multi_query > 1:
        said = _variants(transformer, query, multi_query - 1, deadline, reasons)
        texts += _distinct(said, query, check, reasons)[: multi_query - 1]
    if transformer is not None and hyde:
        made_up = _passage(transformer, query, deadline, reasons)
    return Said(tuple(texts), made_up, tuple(reasons))


def _variants(
    transformer: Transformer, query: str, n: int, deadline: float, reasons: list[str]
) -> Sequence[str]:
    left = deadline - time.monotonic()
    try:
        return transformer.variants(query, n, timeout_seconds=left)
    except Refused:
        reasons.append(UNWORDED)
        return []


def _passage(
    transformer: Transformer, query: str, deadline: float, reasons: list[str]
) -> str:
    """Return the passage, or nothing and a reason."""
    left = deadline - time.monotonic()
    if left <= 0:  # the variants took all the time there was
        reasons.append(UNIMAGINED)
        return ""
    try:
        text = transformer.passage(query, timeout_seconds=left)
    except Refused:
        text = ""
    if not text.strip() or len(text) > PASSAGE_CHARACTERS or not _storable(text):
        reasons.append(UNIMAGINED)
        return ""
    return text


def _distinct(
    said: Iterable[str],
    query: str,
    check: Callable[[str], object] | None,
    reasons: list[str],
) -> list[str]:
    """Return the usable variants, each once, in whatever case it is written."""
    seen, kept = {_folded(query)}, []
    for text in said:
        if not text.strip() or _folded(text) in seen:
            continue
        seen.add(_folded(text))
        if _accepted(text, check):
            kept.append(text)
        else:
            reasons.append(UNUSABLE)
    return kept


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _storable(text: str) -> bool:
    return _accepted(text, None)


def _accepted(text: str, check: Callable[[str], object] | None) -> bool:
    """Tell whether a model's words can be a question: the caller did not write them."""
    try:
        check_text(text, "variant")
        if check is not None:
            check(text)
    except (Invalid, LimitExceeded):
        return False
    return True


def _embedded(
    texts: list[str], embed: EmbedQueries | None, reasons: list[str]
) -> list[Vector | None]:
    if embed is None:
        return [None] * len(texts)
    if len(texts) > 1:
        try:
            found = embed(texts)
        except Refused:
            found = ()
        if len(found) == len(texts):
            return list(found)
    return list(_one_by_one(texts, embed, reasons))


def _one_by_one(
    texts: list[str], embed: EmbedQueries, reasons: list[str]
) -> Iterator[Vector | None]:
    """Yield each vector; a batch may fail for the sake of one text, or of its size."""
    question, *others = texts
    yield embed([question])[0]
    for text in others:
        try:
            yield embed([text])[0]
        except Refused:
            reasons.append(UNEMBEDDED)
            yield None
