from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.recall.fuser import Lists, fuse, reranker, rrf, set_reranker
from prism_memory.recall.fusion import fuse_rrf

LISTS = [["a", "b", "c"], ["c", "b"]]


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    before = reranker()
    yield
    set_reranker(before)


def by_id(query: str, lists: Lists, top_k: int) -> list[tuple[str, float]]:
    return [(i, 1.0) for i in sorted({i for ids in lists for i in ids})][:top_k]


def answering(answer: Any) -> Any:
    return lambda *_: answer


def test_lists_are_fused_by_rank_unless_another_reranker_is_set() -> None:
    """B360, B366."""
    assert reranker() is rrf
    assert fuse("where?", LISTS, 10) == fuse_rrf(LISTS, k=60)
    assert fuse("where?", LISTS, 2) == fuse_rrf(LISTS)[:2]


def test_setting_a_reranker_gives_back_the_previous_one() -> None:
    """B365."""
    assert set_reranker(by_id) is rrf
    assert reranker() is by_id
    assert [i for i, _ in fuse("where?", LISTS, 2)] == ["a", "b"]
    assert set_reranker(rrf) is by_id
    assert reranker() is rrf


def test_a_reranker_gets_the_query_and_lists_of_its_own() -> None:
    """B366."""
    seen: list[Any] = []

    def noting(*given: Any) -> list[tuple[str, float]]:
        seen.append(given)
        return [("b", 2)]

    set_reranker(noting)

    assert fuse("where?", LISTS, 3) == [("b", 2.0)]
    assert seen == [("where?", (("a", "b", "c"), ("c", "b")), 3)]


def test_none_wanted_is_none_and_the_reranker_is_not_called() -> None:
    """B366."""
    set_reranker(answering(None))
    assert fuse("where?", LISTS, 0) == []


def test_more_than_wanted_is_cut() -> None:
    set_reranker(answering([("a", 3.0), ("b", 2.0), ("c", 1.0)]))
    assert fuse("where?", LISTS, 2) == [("a", 3.0), ("b", 2.0)]


@pytest.mark.parametrize(
    "answer",
    [
        [("d", 1.0)],
        [("a", 1.0), ("a", 0.5)],
        [("a", math.nan)],
        [("a", math.inf)],
        [("a", None)],
        [("a", True)],
        [(["a"], 1.0)],
        ["a"],
        ["ab"],
        [("a", 1.0, 2)],
        [None],
        None,
        7,
    ],
)
def test_an_answer_that_is_not_about_the_lists_is_refused(answer: Any) -> None:
    set_reranker(answering(answer))
    with pytest.raises(Invalid) as raised:
        fuse("where?", LISTS, 5)
    assert raised.value.field == "reranker"


@pytest.mark.parametrize("bad", [None, "rrf", 7, []])
def test_what_cannot_be_called_is_no_reranker(bad: Any) -> None:
    with pytest.raises(Invalid):
        set_reranker(bad)
    assert reranker() is rrf


@pytest.mark.parametrize("top_k", [-1, 1.0, True, None, "2"])
def test_a_number_wanted_that_is_no_count_is_refused(top_k: Any) -> None:
    with pytest.raises(LimitExceeded) as raised:
        fuse("where?", LISTS, top_k)
    assert raised.value.field == "top_k"


@pytest.mark.parametrize("bad", [(None, LISTS), (b"q", LISTS), ("q", ["ab"])])
def test_a_query_or_lists_of_another_type_are_refused(bad: tuple[Any, Any]) -> None:
    """Even where none are wanted."""
    with pytest.raises(Invalid):
        fuse(*bad, 0)


def test_each_setting_of_many_threads_gives_back_another() -> None:
    """B365: none is lost, so putting back the previous one always works."""
    count = 16
    made = [answering(number) for number in range(count)]
    previous: list[Any] = []
    start = threading.Barrier(count)

    def exchange(own: Any) -> None:
        start.wait()
        previous.append(set_reranker(own))

    threads = [threading.Thread(target=exchange, args=[own]) for own in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {*previous, reranker()} == {rrf, *made}
