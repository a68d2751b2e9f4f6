"""From a question to what the legs are asked: its variants and their vectors.

Providers are called here, before anything is asked of the database.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from prism_memory.backends import Reranker
from prism_memory.conf import settings
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.recall.candidates import VectorLeg
from prism_memory.recall.question import Question
from prism_memory.recall.variants import Said, Transformer, said_of
from prism_memory.types import Vector

UNCONFIGURED: Final = "no embedder is configured"
EMPTY: Final = "nothing is embedded yet"
CHANGED: Final = "the stored vectors are another embedder's"
SWITCHED_OFF: Final = "no vectors are used here (VECTOR_INDEX is none)"
UNAVAILABLE: Final = "the embedder is unavailable"
REFUSED: Final = "the embedder refused the question"

Embed = Callable[[Sequence[str], float | None], Sequence[Vector]]
"""Embeds questions within seconds, or its own time where they are None; unit length."""


@dataclass(frozen=True)
class Providers:
    """Who helps; each may be missing.

    Args:
        leg: The space to look in; None where there is none.
        without_vectors: The host wants none: an answer by words is no poorer for it.
        embed: Embeds questions with that space's embedder.
        transformer: Says a question in other words.
        reranker: Gives a second opinion on the best.
        check: Raises for what is no acceptable question.
        mask: Takes configured secrets out of a text before it leaves this process.
        lost: Why nothing embeds, where that is none of the usual reasons.
    """

    leg: VectorLeg | None = None
    without_vectors: bool = False
    embed: Embed | None = None
    transformer: Transformer | None = None
    reranker: Reranker | None = None
    check: Callable[[str], object] | None = None
    mask: Callable[[str], str] = str
    lost: str = ""


@dataclass(frozen=True)
class Asked:
    """What the legs are asked.

    Args:
        text: For the words; empty where only the vector counts.
        leg: For the vector; without one where only the words count.
    """

    text: str
    leg: VectorLeg


def ask(
    question: Question, providers: Providers, timeout_seconds: float | None
) -> tuple[list[Asked], str]:
    """Return what the legs are asked, the question first, and what is missing.

    Calls the transformer if variants are wanted, and the embedder once.

    Raises:
        ProviderUnavailable: The embedder is down and only vectors were asked for.
        ProviderRejected: The embedder refused the question; likewise.
    """
    wants_vectors = "vector" in question.asked
    if wants_vectors and providers.without_vectors and "text" in question.asked:
        wants_vectors = False
    embed = embedding(providers, timeout_seconds) if wants_vectors else None
    lost = missing(providers) if wants_vectors and embed is None else ""
    said = _said(question, providers, timeout_seconds, hyde=embed is not None)
    try:
        found = said.embedded(embed)
    except (ProviderUnavailable, ProviderRejected) as error:
        if question.asked == ("vector",):
            raise
        lost = UNAVAILABLE if isinstance(error, ProviderUnavailable) else REFUSED
        found = said.embedded(None)
    leg = providers.leg or VectorLeg()
    asked = [
        Asked(text, replace(leg, vector=vector))
        for text, vector in zip(found.texts, found.vectors, strict=True)
    ]
    return asked, "; ".join(filter(None, (lost, found.degraded)))


def embedding(
    providers: Providers, timeout_seconds: float | None
) -> Callable[[list[str]], Sequence[Vector]] | None:
    """Return what embeds within the time, or None where nothing does.

    The time is that of all its calls, and runs from here on: a transformer takes of it.
    """
    embed = providers.embed
    if embed is None or providers.leg is None:
        return None
    if timeout_seconds is None:
        return lambda texts: embed(texts, None)
    end = time.monotonic() + timeout_seconds

    def within(texts: list[str]) -> Sequence[Vector]:
        left = end - time.monotonic()
        if left <= 0:
            message = "No time is left to embed the question."
            raise ProviderUnavailable(message)
        return embed(texts, left)

    return within


def missing(providers: Providers) -> str:
    """Return why nothing embeds: there is no embedder, or no space yet to look in."""
    if providers.without_vectors:
        return SWITCHED_OFF
    usual = UNCONFIGURED if providers.embed is None else EMPTY
    return providers.lost or usual


def _said(
    question: Question,
    providers: Providers,
    timeout_seconds: float | None,
    *,
    hyde: bool,
) -> Said:
    """Return the question in other words; a passage only where one is embedded."""
    seconds = settings.TRANSFORM_SECONDS
    return said_of(
        question.text,
        multi_query=question.multi_query,
        hyde=question.hyde and hyde,
        transformer=providers.transformer if question.is_varied else None,
        check=providers.check,
        timeout_seconds=min(seconds, timeout_seconds or seconds),
    )
