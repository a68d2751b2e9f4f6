"""B494: every reranker here keeps the contract, and the contract finds who does not."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from prism_memory.backends.reranker_fastembed import MODULE, FastEmbedReranker
from prism_memory.backends.reranker_http import HTTPReranker
from prism_memory.errors import ProviderRejected
from prism_memory.recall.rerank import Reranked
from prism_memory.testing import rerankers
from prism_memory.testing.rerankers import RULES, Factory, check_reranker
from tests.backends import fakes, reranking, servers
from tests.rerankers import OverlapReranker

TICKS = itertools.count(1)


@pytest.fixture
def overlapping() -> Factory:
    return OverlapReranker


@pytest.fixture(params=["cohere", "tei"])
def http(server: servers.Server, request: pytest.FixtureRequest) -> Iterator[Factory]:
    server.behave = reranking.well
    made: list[HTTPReranker] = []

    def factory() -> HTTPReranker:
        made.append(HTTPReranker(model="m", base_url=server.url, dialect=request.param))
        return made[-1]

    yield factory
    for reranker in made:
        reranker.close()


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch) -> Factory:
    monkeypatch.setitem(sys.modules, "fastembed", fakes.fastembed())
    monkeypatch.setitem(sys.modules, MODULE, fakes.cross_encoder())
    monkeypatch.setitem(sys.modules, "onnxruntime", fakes.onnxruntime())
    return lambda: FastEmbedReranker(model="m")


def test_the_http_reranker_conforms(http: Factory) -> None:
    check_reranker(http)


def test_the_fastembed_reranker_conforms(fastembed: Factory) -> None:
    check_reranker(fastembed)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_right_one_keeps_each_rule(
    rule: Callable[[Factory], None], overlapping: Factory
) -> None:
    rule(overlapping)


FAILURES = (AssertionError, ProviderRejected)

Change = Callable[[str, Sequence[str], list[float], int], Any]


class Broken(OverlapReranker):
    """Changes what the right one gives; each test says how."""

    change: Change
    made = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self.number = next(self.made)

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> Any:
        scores = super().rerank(query, texts, timeout_seconds=timeout_seconds)
        return type(self).change(query, texts, scores, self.number)


def broken(change: Change) -> Factory:
    return type("Changed", (Broken,), {"change": staticmethod(change)})


def one_less(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return scores[1:]


def never_empty(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return scores or [0.0]


def not_finite(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [math.nan] * len(scores)


def a_distance(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [-score for score in scores]


def constant(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [0.5] * len(scores)


def best_first(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    """As services send them, so not of the texts in their order."""
    return sorted(scores, reverse=True)


def by_place(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [score - place / 100 for place, score in enumerate(scores)]


def moody(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [score + next(TICKS) / 100 for score in scores]


def another(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [score * (n + 1) for score in scores]


def noisy(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [score + next(TICKS) / 1e9 for score in scores]


def first_batch(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return [s if place < 64 else 0.0 for place, s in enumerate(scores)]


def sorting(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    if isinstance(texts, list):
        texts.sort()
    return scores


def afraid(query: str, texts: Sequence[str], scores: list[float], n: int) -> Any:
    return scores[: sum(len(text) < 1_000 for text in texts)]


@pytest.mark.parametrize(
    ("rule", "change", "words"),
    [
        (rerankers.gives_one_finite_score_a_text, one_less, "0 scores for 1"),
        (rerankers.gives_one_finite_score_a_text, not_finite, "not finite"),
        (rerankers.takes_no_texts, never_empty, "no texts gave scores"),
        (rerankers.returns_a_permutation, one_less, "scores for 4 texts"),
        (rerankers.prefers_what_answers, a_distance, "was preferred"),
        (rerankers.prefers_what_answers, constant, "was preferred|told apart"),
        (rerankers.prefers_what_answers, best_first, "was preferred"),
        (rerankers.scores_a_text_and_not_its_place, best_first, "another place"),
        (rerankers.scores_a_text_and_not_its_place, by_place, "another place"),
        (rerankers.gives_equal_texts_equal_scores, by_place, "equal texts differ"),
        (rerankers.is_deterministic, moody, "deterministic"),
        (rerankers.is_deterministic, another, "deterministic"),
        (rerankers.is_deterministic, noisy, "declared deterministic"),
        (rerankers.takes_more_than_one_batch, first_batch, "among many"),
        (rerankers.takes_odd_texts, afraid, "7 scores for 8 texts"),
        (rerankers.leaves_the_texts_alone, sorting, "was changed"),
    ],
)
def test_who_breaks_a_rule_is_found(
    rule: Callable[[Factory], None], change: Change, words: str
) -> None:
    with pytest.raises(FAILURES, match=words):
        rule(broken(change))
    with pytest.raises(FAILURES):
        check_reranker(broken(change))


def test_a_little_noise_passes_where_it_is_declared() -> None:
    factory = type(
        "Noisy", (Broken,), {"change": staticmethod(noisy), "deterministic": False}
    )
    check_reranker(factory)


def test_a_recall_that_loses_a_candidate_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rerank(*args: Any) -> Reranked:
        return Reranked(("id 0",))

    monkeypatch.setattr(rerankers, "rerank", rerank)

    with pytest.raises(AssertionError, match="no permutation"):
        rerankers.returns_a_permutation(OverlapReranker)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("model", "", "model names nothing"),
        ("provider", None, "provider names nothing"),
        ("local", "yes", "local must be a bool"),
    ],
)
def test_a_declaration_is_wrong(name: str, value: Any, words: str) -> None:
    def factory() -> OverlapReranker:
        reranker = OverlapReranker()
        setattr(reranker, name, value)
        return reranker

    with pytest.raises(AssertionError, match=words):
        rerankers.declares_itself(factory)
