"""A second opinion on the order of the best candidates; never more than an opinion.

Whatever a reranker does (fail, hang, answer nonsense), the answer is a permutation of
what came in, in the order before where there is no better one, and says why (B231).
"""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final

from prism_memory.backends import Reranker, rerank_scores
from prism_memory.backends.loading import PerProcess
from prism_memory.conf import Setting, Settings, check_limit, settings
from prism_memory.errors import (
    PrismMemoryError,
    ProviderRejected,
    ProviderUnavailable,
)

logger = logging.getLogger("prism_memory")

BUSY: Final = "the reranker is busy"
LATE: Final = "the reranker did not answer in time"
UNAVAILABLE: Final = "the reranker is unavailable"
REJECTED: Final = "the reranker gave no usable answer"
FAILED: Final = "the reranker is not usable"


@dataclass(frozen=True)
class Reranked:
    """The candidates in their new order.

    Args:
        ids: The ids that came in, each as often, best first.
        reason: Why some or all stand as they stood, or empty. That candidates beyond
            the limit of candidates do is how it is meant, and no reason.
        seconds: Spent in all.
        scores: The reranker's own score by id, of those it reranked; higher is better.
    """

    ids: tuple[str, ...]
    reason: str = ""
    seconds: float = 0.0
    scores: Mapping[str, float] = field(default_factory=dict)


def rerank(
    query: str,
    candidates: Sequence[tuple[str, str]],
    backend: Reranker,
    *,
    rows: int | None = None,
    size_bytes: int | None = None,
    timeout_seconds: float | None = None,
) -> Reranked:
    """Return the candidates, the first of them in the order of a reranker.

    Calls the reranker once, in a thread of its own: one that overruns its time is left
    behind and holds one of the ``RERANK_CONCURRENCY`` places of this process until it
    ends. No call where there is nothing to choose.

    Args:
        query: What is asked.
        candidates: Id and text, best first. The texts leave this process as they are,
            so pass only what may be shown, redacted.
        backend: From ``get_reranker``, or any other.
        rows: Candidates that are reranked; ``RERANK_CANDIDATES`` when None.
        size_bytes: UTF-8 of the query and the texts sent; ``RERANK_BYTES`` when None.
            Sending ends before the first text that does not fit: what would come after
            it must not overtake it unseen.
        timeout_seconds: Longest wait, where shorter than ``RERANK_SECONDS``.

    Raises:
        LimitExceeded: ``rows`` or ``size_bytes`` is out of its bounds.
    """
    began = time.monotonic()
    ids = [i for i, _ in candidates]
    first = candidates[: _limit(rows, "rerank_candidates")]
    fitting = _fitting(query, first, _limit(size_bytes, "rerank_bytes"))
    scores: list[float] = []
    reason = ""
    if 1 < len(first) != len(fitting):
        reason = f"{len(first) - len(fitting)} texts were too long to be reranked"
    if len(fitting) > 1:
        deadline = began + _seconds(timeout_seconds)
        scores, failure = _scores(backend, query, fitting, deadline)
        reason = failure or reason
    best = sorted(range(len(scores)), key=lambda place: -scores[place])  # stable
    return Reranked(
        ids=(*(ids[place] for place in best), *ids[len(scores) :]),
        reason=reason,
        seconds=time.monotonic() - began,
        scores=dict(zip(ids, scores, strict=False)),
    )


def _limit(given: int | None, name: str) -> int:
    return check_limit(
        getattr(settings, name.upper()) if given is None else given, name
    )


def _seconds(given: float | None) -> float:
    most = _capped(settings.RERANK_SECONDS, Settings.RERANK_SECONDS)
    return most if given is None else min(given, most)


def _capped(value: float, setting: Setting[float] | Setting[int]) -> float:
    # A system check reports a setting over its cap; here the cap simply holds.
    return min(value, setting.maximum or value)


def _fitting(
    query: str, candidates: Sequence[tuple[str, str]], size_bytes: int
) -> Sequence[tuple[str, str]]:
    left = size_bytes - _octets(query)
    for place, (_, text) in enumerate(candidates):
        left -= _octets(text)
        if left < 0:
            return candidates[:place]
    return candidates


def _octets(text: str) -> int:
    return len(text.encode(errors="replace"))


def _scores(
    backend: Reranker, query: str, part: Sequence[tuple[str, str]], deadline: float
) -> tuple[list[float], str]:
    """Return the scores, or none and the reason why."""
    places = _PLACES.get()
    if time.monotonic() >= deadline:
        return [], LATE
    if not places.take(deadline):
        return [], BUSY
    call = _Call(backend, query, [text for _, text in part], deadline, places)
    try:
        call.start()
    except RuntimeError:  # the system has no thread left
        places.give_back()
        return [], BUSY
    return _outcome(call, deadline)


def _outcome(call: _Call, deadline: float) -> tuple[list[float], str]:
    try:
        return call.outcome.result(max(0.0, deadline - time.monotonic())), ""
    except TimeoutError:  # of waiting: a backend's own came as ProviderUnavailable
        return [], LATE
    except PrismMemoryError as error:
        logger.warning("Reranking failed: %s", error)  # which quotes no text
        return [], _reason(error)


def _reason(error: PrismMemoryError) -> str:
    if isinstance(error, ProviderUnavailable):
        return UNAVAILABLE
    return REJECTED if isinstance(error, ProviderRejected) else FAILED


class _Call(threading.Thread):
    """One call of a reranker. A daemon, so that one that hangs ends with the process.

    Args:
        places: One is taken already; it is given back when the call ends.
    """

    def __init__(
        self,
        backend: Reranker,
        query: str,
        texts: list[str],
        deadline: float,
        places: _Places,
    ) -> None:
        super().__init__(name="prism_memory.rerank", daemon=True)
        self.outcome: Future[list[float]] = Future()
        self._ask = (backend, query, texts, deadline)
        self._places = places
        self._context = contextvars.copy_context()  # of traces and translations

    def run(self) -> None:
        try:
            scores = self._context.run(self._scores)
        except PrismMemoryError as error:
            self.outcome.set_exception(error)
        except (SystemExit, KeyboardInterrupt) as error:
            # Its own: a signal's comes to the main thread. It would end this one in
            # silence, and the wait too late.
            message = f"{self._ask[0]!r} failed ({type(error).__name__})."
            self.outcome.set_exception(ProviderRejected(message))
        else:
            self.outcome.set_result(scores)
        finally:
            self._places.give_back()

    def _scores(self) -> list[float]:
        backend, query, texts, deadline = self._ask
        left = max(0.001, deadline - time.monotonic())
        return rerank_scores(backend, query, texts, timeout_seconds=left)


class _Places:
    """The calls that may run at one time.

    No semaphore: the setting may change between two calls.
    """

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._taken = 0

    def take(self, deadline: float) -> bool:
        """Wait for a place until ``deadline``; return whether there was one."""
        with self._free:
            while self._taken >= _capped(
                settings.RERANK_CONCURRENCY, Settings.RERANK_CONCURRENCY
            ):
                if not self._free.wait(max(0.0, deadline - time.monotonic())):
                    return False
            self._taken += 1
            return True

    def give_back(self) -> None:
        """Free a place."""
        with self._free:
            self._taken -= 1
            self._free.notify()


_PLACES: Final = PerProcess(_Places)
"""A forked child starts with all places free: the threads stay with its parent."""
