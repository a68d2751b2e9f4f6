"""Providers for tests of recall, made from the settings; each keeps what it was asked.

``backends.get_transformer("words")`` and the like return the one that a recall asks, so
a test tells it what to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from prism_memory.backends import Grader, QueryTransformer, Reranker
from prism_memory.backends.hashing import HashEmbedder
from prism_memory.types import Grade, Role, Vector

DIMENSIONS = 64

CONFIGURED: dict[str, Any] = {
    "EMBEDDERS": {"default": {"BACKEND": "tests.recall.providers.NotedEmbedder"}},
    "TRANSFORMERS": {"words": {"BACKEND": "tests.recall.providers.Words"}},
    "GRADERS": {"judge": {"BACKEND": "tests.recall.providers.Judge"}},
    "RERANKERS": {"opinion": {"BACKEND": "tests.recall.providers.Opinion"}},
}
"""Every kind is there; none is asked unless a setting or a call names its alias."""


class NotedEmbedder(HashEmbedder):
    """Of the tests' usual space. Refuses as ``refuse`` says."""

    def __init__(self) -> None:
        super().__init__(dimensions=DIMENSIONS, for_tests=True)
        self.asked: list[tuple[str, list[str]]] = []
        self.refuse: Callable[[Sequence[str]], Exception | None] = lambda _: None

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        self.asked.append((str(role), [*texts]))
        if (error := self.refuse(texts)) is not None:
            raise error
        return super().embed_texts(texts, role=role, timeout_seconds=timeout_seconds)


class Words(QueryTransformer):
    """Says what ``said`` and ``made_up`` hold, or raises ``error``."""

    local: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(provider="tests", model="words")
        self.said: list[str] = []
        self.made_up = "nothing in particular"
        self.error: Exception | None = None
        self.asked: list[tuple[str, str, int]] = []

    def variants(self, query: str, n: int, *, timeout_seconds: float) -> list[str]:
        assert timeout_seconds > 0
        self.asked.append(("variants", query, n))
        if self.error is not None:
            raise self.error
        return self.said

    def passage(self, query: str, *, timeout_seconds: float) -> str:
        assert timeout_seconds > 0
        self.asked.append(("passage", query, 1))
        if self.error is not None:
            raise self.error
        return self.made_up


class Judge(Grader):
    """Gives ``verdicts`` in turn, then the last again, or raises what is an error."""

    local: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(provider="tests", model="judge")
        self.verdicts: list[Any] = [Grade(sufficient=True)]
        self.asked: list[tuple[str, list[str]]] = []

    def grade(
        self, question: str, passages: Sequence[str], *, timeout_seconds: float
    ) -> Grade:
        assert timeout_seconds > 0
        self.asked.append((question, [*passages]))
        verdict = self.verdicts[min(len(self.asked), len(self.verdicts)) - 1]
        if isinstance(verdict, Exception):
            raise verdict
        return verdict  # type: ignore[no-any-return] # a wrong one too


class Opinion(Reranker):
    """Scores by ``score``; the last first unless told otherwise."""

    local: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__(provider="tests", model="opinion")
        self.asked: list[tuple[str, list[str]]] = []
        self.answer: Callable[[Sequence[str]], Any] = lambda texts: [
            float(place) for place, _ in enumerate(texts)
        ]

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> list[float]:
        assert timeout_seconds > 0
        self.asked.append((query, [*texts]))
        return self.answer(texts)  # type: ignore[no-any-return] # a wrong one too
