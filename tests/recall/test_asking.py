"""One time for all that providers are asked, by a clock that the tests move."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.recall import asking
from prism_memory.recall.asking import Providers, ask
from prism_memory.recall.candidates import VectorLeg
from prism_memory.recall.question import Question
from prism_memory.types import Vector


class Slow:
    """A transformer and an embedder whose calls each take a second."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float | None] = []
        self.error: type[Exception] | None = None

    def variants(self, query: str, n: int, *, timeout_seconds: float) -> Sequence[str]:
        del timeout_seconds
        self.now += 1
        return [f"{query} {number}" for number in range(n)]

    def passage(self, query: str, *, timeout_seconds: float) -> str:
        del timeout_seconds
        return query

    def embed(self, texts: Sequence[str], seconds: float | None) -> list[Vector]:
        self.waits.append(seconds)
        self.now += 1
        if self.error is not None and len(texts) > 1:
            raise self.error
        return [[1.0] for _ in texts]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Slow:
    slow = Slow()
    fake = SimpleNamespace(monotonic=lambda: slow.now)
    monkeypatch.setattr(asking, "time", fake)
    return slow


def asked(slow: Slow, seconds: float | None, **options: Any) -> tuple[Any, str]:
    providers = Providers(leg=VectorLeg(1), embed=slow.embed, transformer=slow)
    question = Question("tea?", 5, multi_query=3, **options)
    return ask(question, providers, seconds)


def test_without_a_deadline_the_embedder_has_its_own_time(slow: Slow) -> None:
    asked(slow, None)

    assert slow.waits == [None]


def test_what_the_transformer_took_the_embedder_does_not_get(slow: Slow) -> None:
    """B112, B132: the deadline is that of both."""
    found, degraded = asked(slow, 5)

    assert slow.waits == [4]
    assert len(found) == 3
    assert degraded == ""


def test_single_calls_share_the_time_that_is_left(slow: Slow) -> None:
    """B381: after a batch that failed."""
    slow.error = ProviderRejected

    found, degraded = asked(slow, 3.5)

    assert slow.waits == [2.5, 1.5, 0.5]
    assert [one.leg.vector is None for one in found] == [False, False, True]
    assert degraded == "some variants of the question could not be embedded"


def test_with_no_time_left_the_embedder_is_not_asked(slow: Slow) -> None:
    found, degraded = asked(slow, 1)

    assert slow.waits == []
    assert [one.leg.vector for one in found] == [None] * 3
    assert degraded == "the embedder is unavailable"
    with pytest.raises(ProviderUnavailable):
        asked(slow, 1, legs="vector")


def test_no_transformer_is_asked_for_a_leg_that_reads_no_words(slow: Slow) -> None:
    """B378, B379: other words would change nothing, and cost a call."""
    found, degraded = asked(slow, 5, legs="recency", hyde=True)

    assert slow.now == 0
    assert [one.text for one in found] == ["tea?"]
    assert degraded == ""
