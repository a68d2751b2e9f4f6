"""Rerankers for tests: one that is right, and some that are not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from prism_memory.backends import Reranker

OVERLAP = "tests.rerankers.OverlapReranker"


def overlap(query: str, text: str) -> float:
    """The share of the words of both that both have; the shorter text wins a tie."""
    asked, said = (set(re.findall(r"\w+", t.lower())) for t in (query, text))
    return len(asked & said) / (len(asked | said) or 1)


class OverlapReranker(Reranker):
    """Counts common words. Keeps what it was asked."""

    local: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(provider="tests", model="overlap")
        self.asked: list[tuple[str, list[str]]] = []

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> list[float]:
        assert timeout_seconds > 0
        self.asked.append((query, [*texts]))
        return [overlap(query, text) for text in texts]


class Broken(OverlapReranker):
    """Changes what the right one gives; each test says how."""

    def __init__(self, change: Callable[[list[float]], Any]) -> None:
        super().__init__()
        self.change = change

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> Any:
        scores = super().rerank(query, texts, timeout_seconds=timeout_seconds)
        return self.change(scores)


class Failing(OverlapReranker):
    """Raises ``error`` at each call."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> Any:
        del query, texts, timeout_seconds
        raise self.error


class Hanging(OverlapReranker):
    """Answers when it is let go, whatever its timeout."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()
        self.called = threading.Semaphore(0)

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> Any:
        self.called.release()
        assert self.let_go.wait(30)
        return super().rerank(query, texts, timeout_seconds=timeout_seconds)
