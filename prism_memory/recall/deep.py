"""Iterative recall: search, ask whether that answers the question, search otherwise.

Pure: the search and the grader are what the caller gives. A simple question takes one
pass and calls no provider; see ``difficulty``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final

from prism_memory.errors import (
    Aborted,
    DeadlineExceeded,
    Invalid,
    LimitExceeded,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.recall.difficulty import HARD, difficulty
from prism_memory.recall.fusion import RRF_K, fuse_rrf
from prism_memory.types import (
    DeepRecalled,
    Grade,
    Hit,
    Recalled,
    check_count,
    check_finite,
)

Search = Callable[[str, int], Recalled]
"""Of a query and the hops to widen by: what one pass finds."""

Looking = Callable[[Sequence[Hit]], Collection[uuid.UUID]]
"""Of hits: the ids of those that may still be shown, as they are."""

Grading = Callable[[str, Sequence[Hit]], Grade]
"""Of the original question and hits, best first: the verdict."""

ITERATIONS: Final = 3
MOST_ITERATIONS: Final = 5
"""Passes, unless the caller says so, and at most (B403)."""

WINDOW: Final = 8
"""Hits that a grader is shown."""

WIDER_HOPS: Final = 1
"""What each pass after the first is widened by."""

UNGRADED: Final = "the grader gave no verdict"
UNSEARCHED: Final = "a later pass could not be made"
OUT_OF_TIME: Final = "the time was over before the answer was judged good enough"
REFUSED: Final = "the grader's reformulation was no acceptable question"


@dataclass
class Passes:
    """What was searched for, and found, so far."""

    queries: list[str] = field(default_factory=list)
    found: list[Recalled] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    graded: bool = False

    def add(self, query: str, found: Recalled) -> None:
        """Note one pass."""
        self.queries.append(query)
        self.found.append(found)
        if found.degraded:
            self.reasons.append(found.degraded)

    def look_again(self, still: Looking) -> None:
        """Drop what was withdrawn or changed while a provider took its time."""
        kept = {*still([hit for found in self.found for hit in found.hits])}
        self.found = [
            replace(found, hits=tuple(hit for hit in found.hits if hit.id in kept))
            for found in self.found
        ]

    def known(self, query: str) -> bool:
        """Tell whether the same words were searched for, in whatever case."""
        return folded(query) in map(folded, self.queries)


@dataclass(frozen=True)
class Window:
    """What the grader is shown, and who it is."""

    grader: Grading
    size: int
    still: Looking
    cancelled: Callable[[], bool] | None

    def verdict(self, passes: Passes) -> Grade | None:
        """Return the verdict on all passes by the original question.

        None where there is no verdict: that is no reason to abstain (B407).
        """
        try:
            stop_if(self.cancelled)
            if len(passes.found) > 1:
                passes.look_again(self.still)
            hits = window_of(passes.found, self.size)
            verdict = self.grader(passes.queries[0], hits)
        except (ProviderUnavailable, ProviderRejected):
            passes.reasons.append(UNGRADED)
            return None
        except DeadlineExceeded:
            passes.reasons.append(OUT_OF_TIME)
            return None
        passes.graded = True
        return verdict


def deep(  # noqa: PLR0913 - keywords, all but three of them optional
    question: str,
    *,
    search: Search,
    grader: Grading | None,
    top_k: int,
    max_iterations: int = ITERATIONS,
    threshold: float = HARD,
    force_hard: bool = False,
    window: int = WINDOW,
    still: Looking | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> DeepRecalled:
    """Return the best hits of one pass, or of several where the question is hard.

    Calls ``search`` once, and ``grader`` never, unless the question is hard; then each
    at most ``max_iterations`` times.

    Args:
        question: Checked. The grader always judges by it, not by what was made of it.
        search: Makes one pass; the first is not widened.
        grader: Judges what was found, or None.
        top_k: Most hits returned.
        max_iterations: Most passes, 1 to 5.
        threshold: Difficulty from which a question is hard, 0..1.
        force_hard: Take the question for hard, whatever its words.
        window: Most hits the grader is shown; no more than ``top_k`` are, since it
            judges what is returned.
        still: Tells which hits may still be shown, after a grader took its time: what
            was withdrawn meanwhile goes to nobody. All may when None.
        cancelled: Asked before each call after the first search; True stops there. Of
            time that is over the answer so far is told, with a reason.

    Raises:
        Invalid: ``threshold`` is not in 0..1.
        LimitExceeded: ``max_iterations`` is not 1 to 5, or ``top_k`` or ``window``
            not a count.
        Aborted: ``cancelled`` said so.
    """
    check_bounds(top_k, max_iterations, threshold, window)
    hard = force_hard or difficulty(question).score >= threshold
    passes = Passes()
    passes.add(question, search(question, 0))
    size = min(window, top_k)
    verdict: Grade | None = None
    if hard and grader is not None and size > 0:
        looking = still or every_id
        seen = Window(grader, size, looking, cancelled)
        verdict = iterate(passes, search, seen, max_iterations)
        passes.look_again(looking)
    abstained = verdict is not None and not verdict.sufficient
    return DeepRecalled(
        hits=best(passes.found, top_k, size),
        iterations=len(passes.found),
        gate_hard=hard,
        sufficient=not abstained,
        abstained=abstained,
        graded=passes.graded,
        queries=tuple(passes.queries),
        degraded="; ".join(dict.fromkeys(passes.reasons)),
    )


def iterate(
    passes: Passes, search: Search, window: Window, max_iterations: int
) -> Grade | None:
    """Judge and search in turns; return the last verdict, None if the grader failed."""
    while True:
        verdict = window.verdict(passes)
        if verdict is None or len(passes.found) == max_iterations:
            return verdict
        if not searched_again(verdict, search, passes, window):
            return verdict


def check_bounds(
    top_k: int, max_iterations: int, threshold: float, window: int
) -> None:
    """Check what a caller chooses.

    Raises:
        Invalid: ``threshold`` is not in 0..1.
        LimitExceeded: A number is not within its bounds.
    """
    check_count(top_k, "top_k")
    check_count(window, "window", minimum=1)
    if check_count(max_iterations, "max_iterations", minimum=1) > MOST_ITERATIONS:
        message = f"max_iterations must be 1 to {MOST_ITERATIONS}."
        raise LimitExceeded(message, field="max_iterations")
    if not 0 <= check_finite(threshold, "threshold") <= 1:
        message = "threshold must be in 0..1."
        raise Invalid(message, field="threshold")


def stop_if(cancelled: Callable[[], bool] | None) -> None:
    """Stop where the caller does not want the answer any more.

    Raises:
        Aborted: It does not.
    """
    if cancelled is not None and cancelled():
        message = "The recall was cancelled between two passes."
        raise Aborted(message)


def every_id(hits: Sequence[Hit]) -> set[uuid.UUID]:
    """Return the ids of all."""
    return {hit.id for hit in hits}


def searched_again(
    verdict: Grade, search: Search, passes: Passes, window: Window
) -> bool:
    """Make a further pass, if there is a reason to and something new to ask."""
    words = (verdict.reformulation or "").strip()
    if verdict.sufficient or not words or passes.known(words):
        return False
    try:
        stop_if(window.cancelled)
        found = search(words, WIDER_HOPS)
    except (Invalid, LimitExceeded):
        # The words are a model's: too long, or not storable. Not the caller's fault.
        passes.reasons.append(REFUSED)
        return False
    except (ProviderUnavailable, ProviderRejected):
        passes.reasons.append(UNSEARCHED)
        return False
    except DeadlineExceeded:
        passes.reasons.append(OUT_OF_TIME)
        return False
    passes.add(words, found)
    return True


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


def window_of(passes: Sequence[Recalled], size: int) -> list[Hit]:
    """Return the best hits of each pass in turns, the latest pass first, each once.

    By their fused rank alone, what every pass finds again would fill the window, and
    the grader would never see what the last one was made for (B406).
    """
    turns = zip_longest(*(found.hits for found in reversed(passes)))
    listed = {hit.id: hit for turn in turns for hit in turn if hit is not None}
    return list(listed.values())[:size]


def best(passes: Sequence[Recalled], top_k: int, window: int) -> tuple[Hit, ...]:
    """Return the hits of all passes by reciprocal rank, with new scores, 0..1.

    What the grader judged last is among them. One pass keeps its order and scores.

    Args:
        top_k: Most hits returned.
        window: Size of the grader's window, at most ``top_k``.
    """
    if len(passes) == 1:
        return passes[0].hits[:top_k]
    hits = {str(hit.id): hit for found in reversed(passes) for hit in found.hits}
    fused = fuse_rrf([[str(hit.id) for hit in found.hits] for found in passes])
    judged = {str(hit.id) for hit in window_of(passes, window)}
    others = [i for i, _ in fused if i not in judged][: top_k - len(judged)]
    kept = judged.union(others)
    most = len(passes) / (RRF_K + 1)
    return tuple(
        replace(hits[i], score=min(score / most, 1.0))
        for i, score in fused
        if i in kept
    )
