"""B231: bounded, a permutation, and the order before where anything fails."""

from __future__ import annotations

import contextvars
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.conf import settings
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.errors import (
    LimitExceeded,
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.recall.rerank import (
    BUSY,
    FAILED,
    LATE,
    REJECTED,
    UNAVAILABLE,
    _Call,
    rerank,
)
from tests.rerankers import Broken, Failing, Hanging, OverlapReranker, overlap

QUERY = "who keeps bees"
TEXTS = ["an invoice", "bees", "Ada keeps bees", "an invoice", "rain"]
CANDIDATES = [(str(place), text) for place, text in enumerate(TEXTS)]
BEFORE = tuple("01234")


def changed(**values: Any) -> Any:
    return override_settings(PRISM_MEMORY={**settings.PRISM_MEMORY, **values})


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    """One that is let go at the end, and leaves no place taken."""
    backend = Hanging()
    yield backend
    backend.let_go.set()
    for thread in threading.enumerate():
        if thread.name == "prism_memory.rerank":
            thread.join(30)


def test_the_best_come_first_with_their_scores() -> None:
    found = rerank(QUERY, CANDIDATES, OverlapReranker())

    assert found.ids == tuple("21034")
    assert found.reason == ""
    assert found.seconds > 0
    assert found.scores == {i: overlap(QUERY, text) for i, text in CANDIDATES}


def test_equal_scores_keep_the_order_before() -> None:
    found = rerank(QUERY, CANDIDATES, Broken(lambda scores: [1.0] * len(scores)))

    assert found.ids == BEFORE


@given(st.lists(st.integers(-3, 3), max_size=20), st.integers(1, 25))
def test_any_scores_give_a_permutation(scores: list[int], rows: int) -> None:
    """B231, against the plain definition."""
    candidates = [(f"id{place}", "text") for place in range(len(scores))]

    found = rerank(
        "q", candidates, Broken(lambda given: scores[: len(given)]), rows=rows
    )

    part = sorted(range(min(rows, len(scores))), key=lambda i: (-scores[i], i))
    expected = [*part, *range(len(part), len(scores))]
    assert found.ids == tuple(f"id{place}" for place in expected)
    assert found.reason == ""


@pytest.mark.parametrize("candidates", [[], CANDIDATES[:1]])
def test_nothing_to_choose_calls_nobody(candidates: list[tuple[str, str]]) -> None:
    """B494: empty in, empty out."""
    backend = OverlapReranker()

    found = rerank(QUERY, candidates, backend)

    assert found.ids == tuple(i for i, _ in candidates)
    assert (found.reason, found.scores, backend.asked) == ("", {}, [])


# What fails closed


@pytest.mark.parametrize(
    "change",
    [
        lambda scores: scores[1:],
        lambda scores: [*scores, 1.0],
        lambda scores: scores[:0],
        lambda scores: scores.clear(),
        lambda scores: "01234"[: len(scores)],
        lambda scores: dict(enumerate(scores)),
        lambda scores: [*scores[1:], math.nan],
        lambda scores: [*scores[1:], math.inf],
        lambda scores: [*scores[1:], None],
        lambda scores: [*scores[1:], "1"],
        lambda scores: [*scores[1:], True],
    ],
)
def test_an_answer_that_is_no_score_a_text_changes_nothing(
    change: Callable[[list[float]], Any],
) -> None:
    """B231."""
    found = rerank(QUERY, CANDIDATES, Broken(change))

    assert (found.ids, found.reason, found.scores) == (BEFORE, REJECTED, {})


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ProviderUnavailable(), UNAVAILABLE),
        (ConnectionError("down"), UNAVAILABLE),
        (TimeoutError(), UNAVAILABLE),
        (ProviderRejected(), REJECTED),
        (ValueError(QUERY), REJECTED),
        (ZeroDivisionError(), REJECTED),
        (SystemExit(1), REJECTED),
        (KeyboardInterrupt(), REJECTED),
        (Misconfigured(), FAILED),
    ],
    ids=repr,
)
def test_a_failure_changes_nothing_and_is_told(
    error: BaseException, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """B231."""
    found = rerank(QUERY, CANDIDATES, Failing(error))

    assert (found.ids, found.reason, found.scores) == (BEFORE, reason, {})
    assert "Reranking failed" in caplog.text
    assert "mbedding" not in caplog.text, "it is no embedder"
    assert QUERY not in caplog.text


def test_one_that_overruns_its_time_is_left_behind(hanging: Hanging) -> None:
    """B231: the answer comes while the call still runs."""
    found = rerank(QUERY, CANDIDATES, hanging, timeout_seconds=0.05)

    assert (found.ids, found.reason) == (BEFORE, LATE)
    assert not hanging.let_go.is_set()


def test_the_setting_bounds_the_time_that_a_call_asks_for(hanging: Hanging) -> None:
    with changed(RERANK_SECONDS=0.05):
        assert rerank(QUERY, CANDIDATES, hanging, timeout_seconds=600).reason == LATE


def test_no_setting_lifts_the_cap_on_the_time() -> None:
    given: list[float] = []

    class Asked(OverlapReranker):
        def rerank(
            self, query: str, texts: Sequence[str], *, timeout_seconds: float
        ) -> Any:
            given.append(timeout_seconds)
            return super().rerank(query, texts, timeout_seconds=timeout_seconds)

    with changed(RERANK_SECONDS=600):
        rerank(QUERY, CANDIDATES, Asked())

    assert 0 < given[0] <= 10


@pytest.mark.parametrize("timeout_seconds", [0, -1])
def test_no_time_left_calls_nobody(timeout_seconds: float) -> None:
    backend = OverlapReranker()

    found = rerank(QUERY, CANDIDATES, backend, timeout_seconds=timeout_seconds)

    assert (found.ids, found.reason, backend.asked) == (BEFORE, LATE, [])


# What is bounded


def test_only_the_first_candidates_are_reranked() -> None:
    backend = OverlapReranker()

    found = rerank(QUERY, CANDIDATES, backend, rows=2)

    assert found.ids == tuple("10234")
    assert found.reason == ""
    assert {*found.scores} == {"0", "1"}
    assert backend.asked == [(QUERY, TEXTS[:2])]


def test_the_settings_say_how_many_and_how_much() -> None:
    backend = OverlapReranker()
    with changed(RERANK_CANDIDATES=3):
        rerank(QUERY, CANDIDATES, backend)
    with changed(RERANK_BYTES=len(QUERY) + len(TEXTS[0]) + len(TEXTS[1])):
        rerank(QUERY, CANDIDATES, backend)

    assert [texts for _, texts in backend.asked] == [TEXTS[:3], TEXTS[:2]]


def test_what_does_not_fit_stays_below_in_its_order_and_is_told() -> None:
    """B231: 64 KiB of UTF-8, counted to the byte, the query among them."""
    texts = ["zwölf", "bees", "x" * 100, "keeps bees"]
    candidates = [(str(place), text) for place, text in enumerate(texts)]
    fits = len(QUERY) + len("zwölf".encode()) + len("bees")
    backend = OverlapReranker()

    found = rerank(QUERY, candidates, backend, size_bytes=fits)
    short = rerank(QUERY, candidates, backend, size_bytes=fits - 1)

    assert found.ids == ("1", "0", "2", "3")
    assert found.reason == "2 texts were too long to be reranked"
    assert {*found.scores} == {"0", "1"}
    assert short.ids == ("0", "1", "2", "3")
    assert short.reason == "3 texts were too long to be reranked"
    assert len(backend.asked) == 1


def test_a_query_that_is_too_long_alone_sends_nothing() -> None:
    backend = OverlapReranker()

    found = rerank("q" * 100, CANDIDATES, backend, size_bytes=99)

    assert (found.ids, backend.asked) == (BEFORE, [])
    assert found.reason == "5 texts were too long to be reranked"


@pytest.mark.parametrize(
    "limits", [{"rows": 129}, {"rows": 0}, {"size_bytes": 262_145}, {"size_bytes": 0}]
)
def test_a_bound_over_its_cap_is_refused(limits: dict[str, int]) -> None:
    """B30, B231."""
    with pytest.raises(LimitExceeded):
        rerank(QUERY, CANDIDATES, OverlapReranker(), **limits)


def test_one_too_many_at_one_time_is_not_asked(hanging: Hanging) -> None:
    """B231: those left behind hold their places until they end."""
    backend = OverlapReranker()
    with changed(RERANK_CONCURRENCY=2, RERANK_SECONDS=0.05):
        first = [rerank(QUERY, CANDIDATES, hanging) for _ in range(2)]
        third = rerank(QUERY, CANDIDATES, backend)

    assert [found.reason for found in first] == [LATE, LATE]
    assert (third.ids, third.reason, backend.asked) == (BEFORE, BUSY, [])

    hanging.let_go.set()
    assert rerank(QUERY, CANDIDATES, backend).reason == ""


def test_one_waits_for_a_place_within_its_time(hanging: Hanging) -> None:
    found: list[Any] = []
    with changed(RERANK_CONCURRENCY=1, RERANK_SECONDS=10):
        threads = [
            threading.Thread(
                target=lambda: found.append(rerank(QUERY, CANDIDATES, hanging))
            )
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        assert hanging.called.acquire(timeout=10)
        assert not hanging.called.acquire(timeout=0.1)  # the others wait
        hanging.let_go.set()
        for thread in threads:
            thread.join(30)

    assert [f.reason for f in found] == ["", "", ""]


def test_no_thread_left_is_told_and_keeps_no_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start(thread: threading.Thread) -> None:
        message = "can't start new thread"
        raise RuntimeError(message)

    with changed(RERANK_CONCURRENCY=1):
        with monkeypatch.context() as patched:
            patched.setattr(_Call, "start", start)
            assert rerank(QUERY, CANDIDATES, OverlapReranker()).reason == BUSY
        assert rerank(QUERY, CANDIDATES, OverlapReranker()).reason == ""


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_starts_with_all_places(hanging: Hanging) -> None:
    with changed(RERANK_CONCURRENCY=1):
        rerank(QUERY, CANDIDATES, hanging, timeout_seconds=0.05)
        child = os.fork()
        if not child:
            reason = rerank(QUERY, CANDIDATES, OverlapReranker()).reason
            os._exit(0 if reason == "" else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_the_callers_context_is_the_rerankers() -> None:
    """A trace of the host's does not end at the thread."""
    trace = contextvars.ContextVar("trace", default="none")
    seen: list[str] = []

    def look(scores: list[float]) -> list[float]:
        seen.append(trace.get())
        return scores

    trace.set("request 7")
    rerank(QUERY, CANDIDATES, Broken(look))

    assert seen == ["request 7"]
