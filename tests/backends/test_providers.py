"""The doors of transformers and graders: code of others is trusted with nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from prism_memory.backends import (
    CheckedTransformer,
    Grader,
    QueryTransformer,
    grade_passages,
    rerank_scores,
)
from prism_memory.errors import (
    Misconfigured,
    PrismMemoryError,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import Grade

SECRET = "the spare key is under the third pot"
QUESTION = "Where did Ada's sister move?"


class Loose(QueryTransformer, Grader):
    """A host's own backend that answers whatever it was given, or raises it."""

    def __init__(self, answer: object) -> None:
        super().__init__(provider="house", model="loose")
        self.answer = answer
        self.asked: list[object] = []

    def given(self, *asked: object) -> Any:
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def variants(self, query: str, n: int, *, timeout_seconds: float) -> Any:
        return self.given(query, n, timeout_seconds)

    def passage(self, query: str, *, timeout_seconds: float) -> Any:
        return self.given(query, timeout_seconds)

    def grade(self, question: str, passages: Any, *, timeout_seconds: float) -> Any:
        return self.given(question, passages, timeout_seconds)


def variants(transformer: QueryTransformer, n: int = 3) -> list[str]:
    return CheckedTransformer(transformer).variants(QUESTION, n, timeout_seconds=5)


def passage(transformer: QueryTransformer) -> str:
    return CheckedTransformer(transformer).passage(QUESTION, timeout_seconds=5)


def grade(grader: Grader, *passages: str) -> Grade:
    return grade_passages(grader, QUESTION, passages, timeout_seconds=5)


WRONG = [None, 7, "words", ["a", None], {"sufficient": True}, Grade("yes")]  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [*WRONG, Grade(sufficient=True)], ids=repr)
def test_variants_of_anothers_backend_are_texts_or_refused(answer: object) -> None:
    with pytest.raises(ProviderRejected, match="no list of texts"):
        variants(Loose(answer))


@pytest.mark.parametrize("answer", [None, 7, ["a"], "", " \n"], ids=repr)
def test_a_passage_of_anothers_backend_is_a_text_or_refused(answer: object) -> None:
    with pytest.raises(ProviderRejected, match="no text"):
        passage(Loose(answer))


@pytest.mark.parametrize(
    "answer",
    [*WRONG, True, Grade(sufficient=True, reformulation=7)],  # type: ignore[arg-type]
    ids=repr,
)
def test_a_verdict_of_anothers_backend_is_a_grade_or_refused(answer: object) -> None:
    with pytest.raises(ProviderRejected, match="Grade"):
        grade(Loose(answer))


@pytest.mark.parametrize(
    ("raised", "error"),
    [
        (ConnectionError(SECRET), ProviderUnavailable),
        (TimeoutError(SECRET), ProviderUnavailable),
        (ValueError(SECRET), ProviderRejected),
        (ProviderUnavailable("busy"), ProviderUnavailable),
    ],
)
def test_what_anothers_backend_raises_is_an_error_of_this_app(
    raised: Exception, error: type[PrismMemoryError]
) -> None:
    backend = Loose(raised)
    for ask in (variants, passage, grade):
        with pytest.raises(error) as caught:
            ask(backend)
        assert SECRET not in str(caught.value)


def test_a_backend_of_ones_own_needs_nothing_but_its_method() -> None:
    backend = Loose(["a", "b", "c"])

    assert variants(backend, 2) == ["a", "b"]
    assert backend.asked == [(QUESTION, 2, 5)]
    assert backend.check() == []
    assert not backend.local
    assert repr(backend) == "<Loose house/loose>"
    backend.close()


@pytest.mark.parametrize("kind", ["provider", "model"])
def test_a_backend_is_named(kind: str) -> None:
    class Nameless(Loose):
        def __init__(self) -> None:
            names = {"provider": "house", "model": "loose", kind: ""}
            QueryTransformer.__init__(self, **names)

    with pytest.raises(Misconfigured, match=f"{kind} must be named"):
        Nameless()


def late(seconds: float = 0.02) -> Any:
    """A backend that answers well, and later than it may."""

    class Late(Loose):
        def given(self, *asked: object) -> Any:
            time.sleep(seconds)
            return super().given(*asked)

        def rerank(self, *_: object, **__: object) -> Any:
            return self.given()

    return Late


@pytest.mark.parametrize("seconds", [0.001, 60])
@pytest.mark.parametrize(
    ("answer", "call"),
    [
        (
            ["a"],
            lambda late, s: CheckedTransformer(late).variants(
                "?", 1, timeout_seconds=s
            ),
        ),
        ("a", lambda late, s: CheckedTransformer(late).passage("?", timeout_seconds=s)),
        (
            Grade(sufficient=True),
            lambda late, s: grade_passages(late, "?", [], timeout_seconds=s),
        ),
        ([1.0], lambda late, s: rerank_scores(late, "?", ["a"], timeout_seconds=s)),
    ],
    ids=["variants", "passage", "grade", "rerank"],
)
def test_what_comes_late_counts_as_not_come(
    answer: object, call: Any, seconds: float
) -> None:
    """Nothing interrupts it; but its answer is none, as the docs say."""
    backend = late()(answer)

    if seconds > 1:
        assert call(backend, seconds) == answer
        return
    with pytest.raises(ProviderUnavailable, match=r"house/loose> answered too late"):
        call(backend, seconds)
