"""What every reranker must do; run it against your own backend.

.. code-block:: python

    from prism_memory.testing.rerankers import check_reranker


    def test_my_reranker_conforms():
        check_reranker(lambda: MyReranker(model="small"))

Each rule is a function of its own, so that a test can be parametrised over ``RULES``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from prism_memory.backends import Reranker, rerank_scores
from prism_memory.recall.rerank import rerank
from prism_memory.testing.requiring import ODD_TEXTS, require

Factory = Callable[[], Reranker]
"""Makes a reranker; called more than once."""

QUERY: Final = "Who keeps bees?"

TEXTS: Final = (
    "The invoice of March is still unpaid.",
    "Ada keeps bees behind the old mill.",
    "A heron stood in the shallow water until dusk, and then it flew off.",
    "Deploy on Thursday.",
)

ANSWER: Final = 1
"""Which of the texts answers the query."""

SECONDS: Final = 60.0
"""Long enough to load a model, too."""

SAME: Final = 1e-3
"""Most that two scores of one text differ, of the span of all: a batch may round, a
model in half precision more so."""


def check_reranker(factory: Factory) -> None:
    """Check a reranker against every rule below (B494). Calls the reranker.

    About 300 short texts and two of 20,000 characters are scored.

    Raises:
        AssertionError: A rule does not hold; the text says which and how.
        ProviderUnavailable: The reranker's own.
        ProviderRejected: The reranker's own, or its scores are unusable.
    """
    for rule in RULES:
        rule(factory)


def declares_itself(factory: Factory) -> None:
    """Its names and its flags are set before any text is seen."""
    reranker = factory()
    for name in ("provider", "model"):
        value = getattr(reranker, name)
        require(isinstance(value, str) and bool(value), f"{name} names nothing")
    for flag in ("local", "deterministic"):
        value = getattr(reranker, flag)
        require(isinstance(value, bool), f"{flag} must be a bool, not {value!r}")


def takes_no_texts(factory: Factory) -> None:
    """No text, no score, and no error: empty in, empty out."""
    # Asked directly: ``rerank_scores`` would not let it see the empty list.
    found = factory().rerank(QUERY, [], timeout_seconds=SECONDS)
    require(len(found) == 0, "no texts gave scores")
    require(rerank(QUERY, [], factory()).ids == (), "no candidates gave some")


def gives_one_finite_score_a_text(factory: Factory) -> None:
    """Count and finite numbers, of one text and of several, in a list or a tuple."""
    reranker = factory()
    for texts in (TEXTS[:1], TEXTS, [*TEXTS]):
        found = reranker.rerank(QUERY, texts, timeout_seconds=SECONDS)
        require(len(found) == len(texts), f"{len(found)} scores for {len(texts)} texts")
        require(all(map(math.isfinite, found)), "a score is not finite")


def returns_a_permutation(factory: Factory) -> None:
    """Recall gets back what it put in, each once, and nothing is amiss."""
    candidates = [(f"id {place}", text) for place, text in enumerate(TEXTS)]
    reranker = factory()
    scores(reranker, TEXTS)  # loads the model, for which recall does not wait
    found = rerank(QUERY, candidates, reranker)
    require(found.reason == "", found.reason)
    require(sorted(found.ids) == sorted(i for i, _ in candidates), "no permutation")


def prefers_what_answers(factory: Factory) -> None:
    """Higher is better: the text that answers is first, wherever it stood."""
    reranker = factory()
    for turn in range(len(TEXTS)):
        texts = TEXTS[turn:] + TEXTS[:turn]
        found = scores(reranker, texts)
        best = texts[max(range(len(texts)), key=lambda place: found[place])]
        require(best == TEXTS[ANSWER], f"{best!r} was preferred to what answers")
        require(sorted(found)[-1] > sorted(found)[-2], "the best is not told apart")


def scores_a_text_and_not_its_place(factory: Factory) -> None:
    """The n-th score is of the n-th text, however the texts are arranged."""
    reranker = factory()
    forward = scores(reranker, TEXTS)
    backward = scores(reranker, TEXTS[::-1])[::-1]
    alike(forward, backward, "a text has another score in another place")


def gives_equal_texts_equal_scores(factory: Factory) -> None:
    """So that ties are broken by recall, always in the same way."""
    found = scores(factory(), TEXTS * 2)
    alike(found[: len(TEXTS)], found[len(TEXTS) :], "equal texts differ")


def is_deterministic(factory: Factory) -> None:
    """A second time gives the same: exactly where that is declared, else nearly.

    Of the same object, and of another one.
    """
    reranker = factory()
    first = scores(reranker, TEXTS)
    for other in (scores(reranker, TEXTS), scores(factory(), TEXTS)):
        if reranker.deterministic:
            require(first == other, "declared deterministic, and it is not")
        alike(first, other, "the same text has another score later")


def takes_more_than_one_batch(factory: Factory) -> None:
    """The 128 texts that recall sends at most."""
    texts = [TEXTS[place % 4] for place in range(128)]
    reranker = factory()
    few, many = scores(reranker, TEXTS), scores(reranker, texts)
    require(len(many) == len(texts), f"{len(many)} scores for {len(texts)} texts")
    alike(few * 32, many, "a text has another score among many")


def takes_odd_texts(factory: Factory) -> None:
    """Joined emoji, overridden direction, 20,000 characters, a lone wide space.

    As texts, and as a query.
    """
    reranker = factory()
    found = scores(reranker, ODD_TEXTS)
    require(len(found) == len(ODD_TEXTS), "an odd text has no score")
    for query in filter(str.strip, ODD_TEXTS):  # recall refuses a blank query
        require(len(scores(reranker, TEXTS[:2], query)) == 2, "an odd query has none")


def leaves_the_texts_alone(factory: Factory) -> None:
    """The list that it is given is the caller's."""
    texts = [*TEXTS]
    factory().rerank(QUERY, texts, timeout_seconds=SECONDS)
    require(texts == [*TEXTS], "the list of texts was changed")


def scores(reranker: Reranker, texts: Sequence[str], query: str = QUERY) -> list[float]:
    return rerank_scores(reranker, query, texts, timeout_seconds=SECONDS)


def alike(first: Sequence[float], second: Sequence[float], message: str) -> None:
    span = max(map(abs, [*first, *second]))
    for one, other in zip(first, second, strict=True):
        require(abs(one - other) <= SAME * span, message)


RULES: Final[tuple[Callable[[Factory], None], ...]] = (
    declares_itself,
    takes_no_texts,
    gives_one_finite_score_a_text,
    returns_a_permutation,
    prefers_what_answers,
    scores_a_text_and_not_its_place,
    gives_equal_texts_equal_scores,
    is_deterministic,
    takes_more_than_one_batch,
    takes_odd_texts,
    leaves_the_texts_alone,
)
"""Every rule; each takes a factory and raises AssertionError."""
